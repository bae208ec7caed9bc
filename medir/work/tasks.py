"""Long work that is begun by a person who then looks on: functions that another process can be given."""

from pathlib import Path
from typing import TYPE_CHECKING, Unpack
from uuid import UUID

from medir.work.calibration_shelf import CalibrationShelf

if TYPE_CHECKING:
    from medir.wiring import Services
    from rag_core.evaluation.calibrations import Demands
    from rag_core.evaluation.golden_runs import GoldenAsked
    from rag_core.golden.baseline_file import Baseline
    from rag_core.index.outcome import IndexAsked
    from rag_core.model import Actor, Project
    from rag_core.project.runs import Progress


def calibrate(
    services: "Services",
    listener: "Progress",
    *,
    project: "Project",
    actor: "Actor",
    demands: "Demands",
    run_id: UUID,
) -> None:
    """Calibrate, and keep what was found for whoever opens the page."""
    services.calibrator.calibrate(
        project,
        actor=actor,
        demands=demands,
        listener=listener,
        run_id=run_id,
        keep=CalibrationShelf(services.configuration.home).try_put,
    )


def run_golden(
    services: "Services",
    listener: "Progress",
    *,
    project: "Project",
    baseline: "Baseline | None",
    **asked: "Unpack[GoldenAsked]",
) -> None:
    """Run the golden set; with a baseline, the comparison is recorded too."""
    if baseline is None:
        services.evaluation.run_golden(project, listener=listener, **asked)
        return
    from rag_core.evaluation.comparison import run_against  # noqa: PLC0415  a run without a baseline needs none of it

    run_against(services.evaluation, project, baseline, listener=listener, **asked)


def raise_floor(
    services: "Services",
    listener: "Progress",
    *,
    project: "Project",
    actor: "Actor",
    file: Path,
    reason: str,
    run_id: UUID,
) -> None:
    """Raise the floor in a cases file to what passes now."""
    from rag_core.evaluation.floor import raise_project_floor  # noqa: PLC0415

    raise_project_floor(
        services.evaluation,
        project,
        file=file,
        actor=actor,
        reason=reason,
        listener=listener,
        run_id=run_id,
    )


def freeze_baseline(
    services: "Services",
    listener: "Progress",
    *,
    project: "Project",
    name: str,
    **asked: "Unpack[GoldenAsked]",
) -> None:
    """Freeze a baseline of today's run."""
    from rag_core.evaluation.baselines import freeze  # noqa: PLC0415

    freeze(services.evaluation, project, name, clock=services.clock, listener=listener, **asked)


def run_index(
    services: "Services",
    listener: "Progress",
    *,
    project: "Project",
    actor: "Actor",
    **asked: "Unpack[IndexAsked]",
) -> None:
    """Bring an index up to date."""
    services.indexing.run(project, actor=actor, listener=listener, **asked)
