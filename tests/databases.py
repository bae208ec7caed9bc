"""Databases of the tests' server: copied from a template, and dropped whoever is still connected."""

import time
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from temporary import MEMORY


def create_database(server_url: str, name: str, *, template: str) -> None:
    """Copy a database that nobody is connected to."""
    socket = Path(str(conninfo_to_dict(server_url).get("host", "")))
    # files copied as they are cost the least, but waiting until a disk has them costs the most
    strategy = "file_copy" if socket.is_relative_to(MEMORY) else "wal_log"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(
            sql.SQL("create database {} template {} strategy {}").format(
                sql.Identifier(name), sql.Identifier(template), sql.Identifier(strategy)
            )
        )


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
