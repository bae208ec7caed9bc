"""Databases of the tests' server: dropped whoever is still connected."""

import time

import psycopg
from psycopg import sql


def drop_database(server_url: str, name: str) -> None:
    """Drop a database if it is there. A worker that vacuums it belongs to the server's owner, and is waited for."""
    statement = sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name))
    patience = time.monotonic() + 30
    while True:
        try:
            with psycopg.connect(server_url, autocommit=True) as connection:
                connection.execute(statement)
        except psycopg.errors.InsufficientPrivilege:
            if time.monotonic() > patience:
                raise
            time.sleep(0.2)
        else:
            return
