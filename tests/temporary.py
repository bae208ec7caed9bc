"""Where a session of the tests keeps its files: in memory, where there is plenty of it.

A database is copied for nearly every test, a cluster or a repository for many: hundreds of files each, which are gone
a moment later. A disk takes ten times the processor's time for them. Whoever names a folder in TMPDIR gets that one.
"""

import os
import shutil
import tempfile
from pathlib import Path

import psutil

MEMORY = Path("/dev/shm")
_ENOUGH_BYTES = 4_000_000_000


def make_temporary_folder() -> Path:
    """A folder that everybody may enter, as the account that runs PostgreSQL for root must."""
    folder = Path(tempfile.mkdtemp(prefix="medir-tests-", dir=MEMORY if _memory_serves() else None))
    folder.chmod(0o755)
    return folder


def _memory_serves() -> bool:
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK):
        return False
    free = min(shutil.disk_usage(MEMORY).free, psutil.virtual_memory().available)
    # copies of PostgreSQL's programs are run from there
    return free >= _ENOUGH_BYTES and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
