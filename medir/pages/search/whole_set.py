"""All candidates of an answer in order, each with its fate."""

from medir.page_kit.candidate_table import CANDIDATE_COLUMNS, candidate_cells
from medir.page_kit.choosing import draw_table
from rag_core.model import Ranking
from rag_core.words.signals import absent


def draw_whole_set(ranking: Ranking) -> None:
    """The table; nothing where there is no candidate."""
    if ranking.whole_set:
        draw_table(
            [candidate_cells(entry, absent(ranking)) for entry in ranking.whole_set],
            key="whole-set-table",
            columns=CANDIDATE_COLUMNS,
        )
