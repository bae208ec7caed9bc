"""`rag_core/database/schema.sql`: what the migrations make, as one readable file.

Run it after a new migration: `python tests/sql/schema_dump.py` writes the file anew from an embedded server in
a temporary folder.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import rag_core
from rag_core.database.migration import migrate
from rag_core.database.server.cluster import installed_programs
from rag_core.database.server.server import EmbeddedServer

SCHEMA_FILE = Path(rag_core.__file__).parent / "database" / "schema.sql"
_HEADER = "-- Made from the migrations by tests/sql/schema_dump.py; changes go into a new migration.\n"


def dump_schema(url: str) -> str:
    """The schema of a database as SQL, without versions, owners and session settings."""
    finished = subprocess.run(
        [
            installed_programs() / "bin" / "pg_dump",
            "--schema-only",
            "--no-owner",
            "--no-privileges",
            "--no-comments",
            f"--dbname={url}",
        ],
        capture_output=True,
        check=True,
        text=True,
    )
    lines = [line for line in finished.stdout.splitlines() if not _is_incidental(line)]
    blocks = [block.strip("\n") for block in "\n".join(lines).split("\n\n")]
    return _HEADER + "".join(f"\n{block}\n" for block in blocks if block)


def _is_incidental(line: str) -> bool:
    return line.startswith(("--", "\\", "SET ", "SELECT pg_catalog.set_config"))


def main() -> None:
    """Write the file."""
    home = Path(tempfile.mkdtemp(prefix="medir-schema-"))
    home.chmod(0o755)
    try:
        with EmbeddedServer(home) as url:
            migrate(url)
            SCHEMA_FILE.write_text(dump_schema(url), encoding="utf-8")
    finally:
        shutil.rmtree(home)


if __name__ == "__main__":
    main()
