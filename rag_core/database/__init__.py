"""PostgreSQL: server, pool, migrations, and queries beside their typed functions."""
