"""Where the program begins: nothing is loaded yet, so that Ctrl-C is answered in the first second too."""

import sys

EXIT_INTERRUPTED = 130


def main() -> None:
    """Run the command line."""
    try:
        from medir.cli import main as run  # noqa: PLC0415
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        sys.exit(EXIT_INTERRUPTED)
    run()
