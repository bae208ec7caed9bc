"""Projects and who may do what with them, their long work, and whether their index is of today."""
