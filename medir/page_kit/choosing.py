"""What a parameter of the address is chosen with: a box, words in a row, or a row of a table; and a table to read."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal, cast

import streamlit as st
from pandas import DataFrame
from pandas.io.formats.style import Styler
from streamlit.elements.lib.column_types import ColumnConfig

from medir.page_kit.address import Parameter, refuse
from medir.page_kit.signs import DASH


def known(parameter: Parameter[str], options: Collection[str]) -> str:
    """What is chosen of some options, empty for none; what is not among them is said and given up."""
    chosen = parameter.read()
    return refuse(parameter, chosen) if chosen and chosen not in options else chosen


def draw_box(
    label: str,
    parameter: Parameter[str],
    options: Iterable[str],
    *,
    key: str,
    width: int,
    name_of: Callable[[str], str],
    told: str | None = None,
) -> None:
    """A box of options, the empty one first."""
    st.selectbox(
        label,
        ["", *options],
        key=key,
        on_change=parameter.mirror(key),
        width=width,
        format_func=name_of,
        help=told,
    )


def draw_words(
    label: str,
    parameter: Parameter[str],
    names: Mapping[str, str],
    *,
    key: str,
    labelled: bool = False,
    wrap: Callable[[Callable[[], None]], Callable[[], None]] = lambda take: take,
) -> None:
    """Words in a row, of which one is always chosen; `wrap` puts more into what a click does."""
    st.segmented_control(
        label,
        list(names),
        key=key,
        required=True,
        on_change=wrap(parameter.mirror(key)),
        format_func=lambda option: names[option],
        label_visibility="visible" if labelled else "collapsed",
    )


def draw_table(
    rows: Sequence[Mapping[str, object]],
    *,
    key: str,
    columns: Mapping[str, ColumnConfig] | None = None,
    order: Iterable[str] | None = None,
) -> None:
    """A table that is read, and nothing chosen from it."""
    st.dataframe(
        DataFrame(rows),
        key=key,
        hide_index=True,
        placeholder=DASH,
        column_order=order,
        column_config=columns,
    )


def draw_rows(
    rows: DataFrame | Styler,
    ids: Sequence[str],
    parameter: Parameter[str],
    *,
    name: str,
    columns: Mapping[str, ColumnConfig],
    height: int | Literal["auto", "content"] = "auto",
    order: Iterable[str] | None = None,
    also: Callable[[], None] = lambda: None,
) -> None:
    """A table of which one row can be selected: its id is what is then chosen, and what `also` does is done."""
    wanted = [ids.index(parameter.read())] if parameter.read() in ids else []
    key = f"{name}-{hash(tuple(ids)):x}"
    if key in st.session_state and _selected(key) != wanted:
        # chosen elsewhere: by a link or the browser's back button
        st.session_state[key] = {"selection": {"rows": wanted, "columns": [], "cells": []}}

    def take() -> None:
        picked = _selected(key)
        parameter.choose(ids[picked[0]] if picked else "")
        also()

    st.dataframe(
        rows,
        key=key,
        hide_index=True,
        placeholder=DASH,
        height=height,
        on_select=take,
        selection_mode="single-row",
        selection_default={"selection": {"rows": wanted}},
        column_order=order,
        column_config=columns,
    )


def _selected(key: str) -> list[int]:
    return cast("list[int]", list(st.session_state[key]["selection"]["rows"]))
