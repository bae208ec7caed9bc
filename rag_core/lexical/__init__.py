"""How one word may be written: accents, plurals, identifiers, file names. Pure; the database is asked elsewhere."""
