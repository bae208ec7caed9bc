"""What a page shows when there is nothing to show yet: why, and the next step."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import streamlit as st

from medir.page_kit.frame import Frame
from medir.page_kit.signs import DASH

_TEMPLATE = """\
floor: 0
limit: 5
cases:
  - id: first-case
    question: A question as somebody would ask it
    expected: docs/the-file-that-answers.md
    tags: [paraphrase]
"""


def draw_not_indexed(view: Frame) -> None:
    """The project has no index."""
    st.info(
        "This project is not indexed yet, so there is nothing to search or to measure.",
        icon=":material/inventory_2:",
    )
    st.code(f"medir index --project {view.project.project_id}", language=None)
    if st.button("Look again", key="look-again", icon=":material/refresh:"):
        st.rerun()


def draw_no_cases(file: Path) -> None:
    """The project has no golden set."""
    st.info(
        "This project has no golden set yet: questions, each with the file that must be among the hits.",
        icon=":material/playlist_add:",
    )
    st.text(f"Write {file}, for example:")
    st.code(_TEMPLATE, language="yaml")


def draw_faults(faults: Sequence[Mapping[str, object]], file: Path) -> None:
    """What is wrong with the golden set, by line."""
    st.error(
        f"The golden set has {len(faults)} fault{'' if len(faults) == 1 else 's'}; it runs again when they are mended.",
        icon=":material/rule:",
    )
    st.text(str(file))
    table = pd.DataFrame(faults, columns=["line", "case", "field", "message"]).astype({"line": "Int64"})
    st.dataframe(
        table,
        key="golden-faults",
        hide_index=True,
        placeholder=DASH,
        column_config={
            "line": st.column_config.NumberColumn("line", width=60),
            "message": st.column_config.TextColumn("what is wrong", width="large"),
        },
    )


def draw_no_run() -> None:
    """The golden set was never run."""
    st.info("Not measured yet: run the golden set to see what passes.", icon=":material/hourglass_empty:")
