"""`python -m medir`: the command line."""

from medir.cli import main

main()
