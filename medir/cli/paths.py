"""Paths on the command line."""

from pathlib import Path
from typing import cast

import click


class PathArgument(click.Path):
    """A path, as click checks it. An empty text is none: it would stand for the folder one is in."""

    def __init__(self, *, exists: bool = False, dir_okay: bool = True) -> None:
        super().__init__(exists=exists, dir_okay=dir_okay, path_type=Path)

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path, or a usage error."""
        if value == "":
            self.fail("The path is empty.", param, ctx)
        return cast("Path", super().convert(cast("str", value), param, ctx))


FILE_TO_WRITE = PathArgument(dir_okay=False)
FILE_TO_READ = PathArgument(exists=True, dir_okay=False)
ANY_PATH = PathArgument()
