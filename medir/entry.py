"""Where the program begins: nothing is loaded yet, so that Ctrl-C is answered in the first second too."""

import gc
import os
import sys

from medir.interrupt import code_of_interrupt, end_politely


def main() -> None:
    """Run the command line."""
    # one thread a multiplication: the encoder's are small, and threads that wait for each other cost three times the
    # processor; it is read when numpy is loaded
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # what loading makes stays to the end; looking for garbage in it, and once more at the end, would be a tenth of the
    # time of a short command
    gc.disable()
    try:
        end_politely()
        from medir.cli import main as run  # noqa: PLC0415

        gc.freeze()
        gc.enable()
        run()
    except KeyboardInterrupt as stopped:
        sys.stderr.write("Stopped.\n")
        sys.exit(code_of_interrupt(sys.argv[1:], stopped))
    finally:
        gc.freeze()
