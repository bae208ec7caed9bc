"""Baselines: golden runs frozen as files beside the cases, to be committed. Written once, never again."""

import os
import re
import tempfile
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Unpack

from rag_core.errors import InvalidInput, Refused, UsageError
from rag_core.evaluation.comparison import replayed_passes
from rag_core.evaluation.golden_runs import Evaluation, GoldenAsked, GoldenRun
from rag_core.evaluation.sides import side_of_baseline
from rag_core.files import NotReadable, read_regular_file
from rag_core.golden.baseline_file import MAX_BYTES, Baseline, decode_baseline, encode_baseline
from rag_core.model import Project
from rag_core.ports import Clock
from rag_core.project.runs import Progress
from rag_core.settings.golden_folder import cases_file

MOST_LISTED = 200
_MAX_LISTED_BYTES = 64_000_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineEntry:
    """One file of the folder. `baseline` is None where it was refused, for `reason`."""

    name: str
    file: Path
    baseline: Baseline | None
    reason: str | None


def baselines_folder(project: Project, cases: Path | None = None) -> Path:
    """Where the baselines of a golden set lie: `baselines/` beside its cases file.

    Raises:
        UsageError: A bare repository has no folder of its own for golden cases.
    """
    return (cases or cases_file(project)).parent / "baselines"


def new_file(folder: Path, name: str) -> Path:
    """Where a baseline of that name would be written.

    Raises:
        InvalidInput: That can be no name.
        Refused: There is a baseline of that name.
    """
    file = _file_of(folder, name)
    if os.path.lexists(file):
        raise _taken(name, file)
    return file


def freeze(
    evaluation: Evaluation,
    project: Project,
    name: str,
    *,
    clock: Clock,
    listener: Progress | None = None,
    **asked: Unpack[GoldenAsked],
) -> tuple[Baseline, Path]:
    """Run the golden set under the settings in force and write what comes out as a file.

    `name` is of letters, digits, dot, hyphen and underscore. `allow_degraded`: freeze a run without vectors
    too, which its identity then says. All else is as for `run_golden`. The file is returned too.

    Raises:
        InvalidInput: That can be no name.
        Refused: There is a baseline of that name, or the run would be degraded.
    """
    file = new_file(baselines_folder(project, asked.get("cases")), name)
    run = evaluation.run_golden(project, listener=listener, **asked)
    baseline = make_baseline(run, name=name, frozen_at=clock.now().isoformat())
    _write_once(file, encode_baseline(baseline), name)
    return baseline, file


def make_baseline(run: GoldenRun, *, name: str, frozen_at: str) -> Baseline:
    """The baseline of a run.

    Raises:
        Refused: The run was a trial.
    """
    if run.trial:
        raise Refused(
            "A trial is no baseline: its numbers are not those that searches use.",
            hint="Adopt the numbers first (medir settings adopt), then freeze.",
        )
    golden, measured = run.outcome.golden, run.measured
    return Baseline(
        name=name,
        frozen_at=frozen_at,
        identity={
            "settings": measured.settings.to_json(),
            "limit": measured.settings.ranking.limit,
            "floor": golden.floor,
            "casesDigest": golden.digest,
            "index": measured.index.to_json(),
            "textSearchConfig": measured.index.text_search_config,
            "degraded": measured.degraded,
            "allowDegraded": run.allow_degraded,
            "versions": {"medir": _own_version()},
        },
        cases=golden.cases,
        vectors=measured.vectors,
        found=measured.found,
        run=run.to_json(),
    )


def read_baseline(folder: Path, name: str) -> Baseline:
    """The baseline of that name.

    Raises:
        InvalidInput: That can be no name, or the file is tampered with, truncated, or of a newer format.
        UsageError: There is none of that name, or it can't be read.
    """
    file = _file_of(folder, name)
    try:
        data = read_regular_file(file, at_most=MAX_BYTES)
    except NotReadable as error:
        raise UsageError(
            f"The baseline {file}: it {error}.", hint="A baseline is a file as it was frozen."
        ) from error
    if data is None:
        known = ", ".join(found.stem for found in _files(folder)[:MOST_LISTED])
        raise UsageError(
            f"There is no baseline {name!r} in {folder}.",
            hint=f"Baselines: {known}." if known else f"Freeze one: medir baseline freeze {name}",
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _refused(file, "it is no UTF-8 text") from error
    baseline = decode_baseline(text, file=str(file))
    if baseline.name != name:
        raise _refused(file, f"it holds the baseline {baseline.name!r} under another name")
    return baseline


def list_baselines(folder: Path) -> tuple[BaselineEntry, ...]:
    """Every baseline in the folder, by name; those that are refused among them. Empty without the folder."""
    entries: list[BaselineEntry] = []
    room = _MAX_LISTED_BYTES
    for number, file in enumerate(_files(folder)):
        baseline, reason = None, None
        try:
            room -= file.lstat().st_size
            if number >= MOST_LISTED or room < 0:
                reason = (
                    f"It is not read: a list holds {MOST_LISTED} baselines, "
                    f"of {_MAX_LISTED_BYTES // 1_000_000} MB together."
                )
            else:
                baseline = read_baseline(folder, file.stem)
        except OSError as error:
            reason = f"The baseline {file} can't be read: {error.strerror}."
        except (InvalidInput, UsageError) as error:
            reason = error.message
        entries.append(BaselineEntry(name=file.stem, file=file, baseline=baseline, reason=reason))
    return tuple(entries)


def verify_baseline(folder: Path, name: str) -> str | None:
    """Why the baseline can't be relied on; None where it can.

    Its content must match its checksum, and its candidates, ranked under its settings, must give its results.

    Raises:
        UsageError: There is none of that name.
    """
    try:
        baseline = read_baseline(folder, name)
        side = side_of_baseline(baseline)
    except InvalidInput as error:
        return error.message
    replayed = replayed_passes(baseline.cases, baseline.found, side.settings.ranking)
    changed = [case for case, passed in baseline.passed.items() if replayed[case] != passed]
    if changed:
        return (
            f"The candidates of the baseline {name}, ranked under its settings, give other results for: "
            f"{', '.join(changed)}."
        )
    return None


def _file_of(folder: Path, name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"{name!r} can't be the name of a baseline.",
            hint="Use up to 100 letters, digits, dots, hyphens and underscores, beginning with a letter or digit.",
        )
    return folder / f"{name}.json"


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.glob("*.json") if _NAME.fullmatch(file.stem))


def _write_once(file: Path, text: str, name: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", newline="", dir=file.parent, prefix=f".{file.name}."
        ) as scratch:
            scratch.write(text)
            scratch.flush()
            os.fsync(scratch.fileno())
            Path(scratch.name).chmod(0o644)
            # a link, unlike a rename, never takes the place of a file that came meanwhile
            os.link(scratch.name, file)
    except FileExistsError as error:
        raise _taken(name, file) from error
    except OSError as error:
        raise UsageError(
            f"The baseline can't be written to {file.parent}: {error.strerror}.",
            hint="Give a golden folder that can be written: --cases FILE, or medir project set --golden DIR.",
        ) from error


def _taken(name: str, file: Path) -> Refused:
    return Refused(
        f"There is a baseline {name!r} already, and a baseline is never overwritten.",
        hint="Choose another name.",
        where={"file": str(file)},
    )


def _refused(file: Path, reason: str) -> InvalidInput:
    return InvalidInput(
        f"The baseline {file} is refused: {reason}.",
        hint="Bring back the file as it was committed, or freeze another baseline.",
        where={"file": str(file)},
    )


def _own_version() -> str | None:
    try:
        return version("medir")
    except PackageNotFoundError:
        return None
