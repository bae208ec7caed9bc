"""The calibrations of an installation, kept in its home folder: whoever made one, every page can draw it.

What is decided lies in the run's row; the candidates that the pictures are drawn from would be too much for it. A file
holds plain data of ours: reading one makes no object of another kind, and one of an older shape is left unread.
"""

import contextlib
import dataclasses
import enum
import importlib
import io
import json
import logging
import pickle
import tempfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from rag_core.files import NotReadable, read_regular_file

if TYPE_CHECKING:
    from rag_core.evaluation.calibrations import Calibration

_logger = logging.getLogger(__name__)
_FOLDER = "calibrations"
_SUFFIX = ".calibration"
_MOST_KEPT = 16
_MAX_BYTES = 200_000_000
_OURS = "rag_core"
_OTHERS = frozenset(
    {
        ("numpy", "dtype"),
        ("numpy", "ndarray"),
        ("numpy._core.numeric", "_frombuffer"),
        ("numpy._core.multiarray", "_reconstruct"),
        ("numpy._core.multiarray", "scalar"),
        ("uuid", "UUID"),
    }
)


class CalibrationShelf:
    """The calibrations in one home folder."""

    def __init__(self, home: Path) -> None:
        self._folder = home / _FOLDER

    def try_put(self, found: "Calibration") -> None:
        """Keep a calibration, without the candidates' texts and places, which no picture needs.

        Where the folder can't be written, a warning is logged: what was decided is recorded all the same.
        """
        light = found.light()
        shapes = json.dumps(_shapes(light)).encode() + b"\n"
        pickled = io.BytesIO()
        _Writer(pickled, protocol=5).dump(light)
        data = zlib.compress(pickled.getvalue(), level=1)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as file:
                file.write(shapes + data)
            Path(file.name).replace(self._file(found.run_id))
            self._forget_old()
        except OSError as error:
            _logger.warning(
                "the pictures of this calibration can't be kept in %s: %s", self._folder, error.strerror
            )

    def find(self, run_id: UUID) -> "Calibration | None":
        """The calibration of a run; None where it was not made here, was long ago or by another version."""
        try:
            kept = read_regular_file(self._file(run_id), at_most=_MAX_BYTES)
            if kept is None:
                return None
            shapes, _, data = kept.partition(b"\n")
            if not _are_ours(json.loads(shapes)):
                return None
            return cast("Calibration", _Reader(io.BytesIO(zlib.decompress(data))).load())
        except (OSError, ValueError, LookupError, AttributeError, TypeError, EOFError):
            return None
        except (zlib.error, pickle.UnpicklingError, ImportError, NotReadable, RecursionError):
            return None

    def _file(self, run_id: UUID) -> Path:
        return self._folder / f"{run_id}{_SUFFIX}"

    def _forget_old(self) -> None:
        files = sorted(self._folder.glob(f"*{_SUFFIX}"), key=lambda file: file.stat().st_mtime_ns)
        for file in files[:-_MOST_KEPT]:
            with contextlib.suppress(OSError):
                file.unlink()


class _Writer(pickle.Pickler):
    """Writes a member of an enumeration by its value: Python 3.11.2 writes its name and `getattr`."""

    def reducer_override(self, obj: object, /) -> Any:
        return (type(obj), (obj.value,)) if isinstance(obj, enum.Enum) else NotImplemented


class _Reader(pickle.Unpickler):
    """Makes numbers, arrays and our own plain classes, and calls nothing else."""

    def find_class(self, module: str, name: str, /) -> object:
        found = super().find_class(module, name) if _may_be(module, name) else None
        if (module, name) in _OTHERS or _is_plain(found):
            return found
        raise pickle.UnpicklingError(f"{module}.{name} is no part of a calibration")


def _may_be(module: str, name: str) -> bool:
    return (module, name) in _OTHERS or module.partition(".")[0] == _OURS


def _is_plain(found: object) -> bool:
    return isinstance(found, type) and (dataclasses.is_dataclass(found) or issubclass(found, enum.Enum))


def _shapes(found: object) -> dict[str, list[str]]:
    """The fields of every class of ours in an object, by the class's name."""
    shapes: dict[str, list[str]] = {}
    waiting = [found]
    while waiting:
        each = waiting.pop()
        if dataclasses.is_dataclass(each) and not isinstance(each, type):
            fields = [field.name for field in dataclasses.fields(each)]
            shapes[f"{type(each).__module__}:{type(each).__qualname__}"] = fields
            waiting += [getattr(each, field) for field in fields]
        elif isinstance(each, tuple):
            waiting += each
        elif isinstance(each, Mapping):
            waiting += [*each.keys(), *each.values()]
    return shapes


def _are_ours(shapes: Mapping[str, list[str]]) -> bool:
    """Whether every class still has the fields that it was written with."""
    for name, fields in shapes.items():
        module, _, kind = name.partition(":")
        if module.partition(".")[0] != _OURS:
            return False
        found = getattr(importlib.import_module(module), kind)
        if [field.name for field in dataclasses.fields(found)] != fields:
            return False
    return True
