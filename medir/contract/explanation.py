"""One golden case explained."""

from dataclasses import dataclass

from medir.contract.hits import Candidate, Hit
from rag_core.calibration.safety import Overtake
from rag_core.evaluation.explanation import CaseExplanation
from rag_core.golden.losses import LostBecause
from rag_core.golden.remedies import RemedyKind
from rag_core.golden.verdicts import VerdictShape
from rag_core.model.settings import SettingsShape
from rag_core.model.shape import Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseAsked(VerdictShape):
    """The case and how it came out, with its hits."""

    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RemedyTold(Shape):
    """One change that would make the case pass, or the word that there is none."""

    kind: RemedyKind
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OvertakeTold(Shape):
    """The open interval of weights on which a rival stands above the best expected chunk."""

    chunk_id: str
    from_: float
    to: float

    @classmethod
    def of(cls, found: Overtake) -> "OvertakeTold":
        """Of one rival."""
        return cls(chunk_id=found.rival.chunk_id, from_=found.begins, to=found.ends)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseExplained(Shape):
    """One case's way through the search, what happened since it passed, and what would make it pass."""

    case: CaseAsked
    settings: SettingsShape
    threshold: float | None
    whole_set: tuple[Candidate, ...]
    remedies: tuple[RemedyTold, ...]
    passing_weights: tuple[tuple[float, float], ...]
    overtakes: tuple[OvertakeTold, ...]
    left_out: tuple[str, ...]
    passed_in: str | None = None
    lost_because: tuple[LostBecause, ...] | None = None

    @classmethod
    def of(cls, found: CaseExplanation) -> "CaseExplained":
        """Of a case that passed once, also where that was and what happened since."""
        ranking = found.ranking
        return cls(
            case=CaseAsked.of(
                found.verdict,
                hits=tuple(Hit.of(hit, found.contents[hit.candidate.chunk_id]) for hit in ranking.hits),
            ),
            settings=found.settings.shape,
            threshold=ranking.threshold,
            whole_set=tuple(map(Candidate.of, ranking.whole_set)),
            remedies=tuple(RemedyTold(kind=each.kind, sentence=each.sentence) for each in found.remedies),
            passing_weights=tuple((run.low, run.high) for run in found.passing_weights),
            overtakes=tuple(map(OvertakeTold.of, found.overtakes)),
            left_out=found.left_out,
            passed_in=found.passed_in,
            lost_because=None
            if found.passed_in is None
            else tuple(cause.told for cause in found.lost_because),
        )
