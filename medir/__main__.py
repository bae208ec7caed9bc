"""`python -m medir`: the command line."""

from medir.entry import main

main()
