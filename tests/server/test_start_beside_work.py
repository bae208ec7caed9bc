"""A server is started while other threads compute: a run that embeds brings its server back and goes on."""

import os
import subprocess
import sys

import pytest
from server_homes import IS_ROOT, PYTHON_PATH, open_folder

# The main thread is within OpenBLAS nearly all the time; the other one starts and stops the server meanwhile.
_BESIDE = """
import sys, threading
from pathlib import Path
import numpy as np
from rag_core.database.server.server import EmbeddedServer
def start_and_stop():
    for _ in range(3):
        server = EmbeddedServer(Path(sys.argv[1]))
        server.acquire()
        server.release()
matrix = np.ones((1500, 1500), dtype=np.float32)
thread = threading.Thread(target=start_and_stop, daemon=True)
thread.start()
while thread.is_alive():
    matrix @ matrix
print("done", flush=True)
"""


@pytest.mark.skipif(not IS_ROOT, reason="only root starts the server as another account")
def test_starting_the_server_as_another_account_stops_no_thread_that_multiplies_matrices() -> None:
    with (
        open_folder() as folder,
        subprocess.Popen(
            [sys.executable, "-c", _BESIDE, str(folder / "home")],
            env={**os.environ, "PYTHONPATH": PYTHON_PATH},
            stdout=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        try:
            said, _ = process.communicate(timeout=60)
        finally:
            process.kill()

    assert (process.returncode, said) == (0, "done\n")
