"""The workbench's entry for whoever looks for it here; the script itself is in the package."""

import runpy

from medir.pages import ENTRY

runpy.run_path(ENTRY, run_name="__main__")
