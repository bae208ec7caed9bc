"""Text of documents and people, shown as text: nothing in it is Markdown, markup or a link.

What stands by itself is drawn as text. What stands in a sentence of ours, or in a label, goes through `escaped`: that
holds for whatever comes from a file, a database, an address or the environment, also where it should hold no sign.

Marked words need more than `st.text` can draw, so they go through one component of fixed markup and script: the
pieces travel as data and become text nodes, never HTML.
"""

import re
from collections.abc import Sequence

import streamlit as st
from streamlit.components.v2 import component

from rag_core.search.excerpts import Excerpt, cut_short, excerpts_of

SHOWN_CHARS = 700

_SIGNS = re.compile(r"[!-/:-@\[-`{-~]")
# links and icons that are made of plain text, whatever is escaped in it: each is parted by a sign without width
_READ_ANYWAY = re.compile(r"://|www(?=\.)|@|:(?=[\w+/-]+:)", re.IGNORECASE)
_JOINER = "\N{WORD JOINER}"

_MARKUP = '<p class="quoted" lang="pt"></p>'
_STYLE = """
.quoted {
  margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.5;
  font-family: var(--st-font); font-size: var(--st-base-font-size, 1rem); color: var(--st-text-color);
}
.quoted mark {
  color: inherit; font-weight: 600; border-radius: 0.2em; padding: 0 0.1em;
  background: color-mix(in srgb, #E69F00 28%, transparent);
}
"""
_SCRIPT = """
export default function ({ data, parentElement }) {
  const quoted = parentElement.querySelector(".quoted");
  quoted.replaceChildren(...data.pieces.map(([text, matched]) => {
    if (!matched) return document.createTextNode(text);
    const mark = document.createElement("mark");
    mark.textContent = text;
    return mark;
  }));
}
"""
_quoted = component("medir_quoted", html=_MARKUP, css=_STYLE, js=_SCRIPT)


def escaped(text: str) -> str:
    """Somebody's text for a sentence or a label of Markdown, where it reads as it stands, on one line."""
    parted = _READ_ANYWAY.sub(lambda match: match[0][0] + _JOINER + match[0][1:], " ".join(text.split()))
    return _SIGNS.sub(lambda match: f"\\{match[0]}", parted)


def draw_quoted(text: str, matched: frozenset[str], *, key: str) -> None:
    """A text with its matched words marked; a long one is cut, with a switch that shows all of it."""
    draw_excerpts(excerpts_of(_shown(text, key), matched), key=key)
    _draw_switch(text, key)


def draw_excerpts(pieces: Sequence[Excerpt], *, key: str) -> None:
    """Pieces of one text, in order; without the server that mounts components, as text without its marks."""
    data = {"pieces": [[piece.text, piece.matched] for piece in pieces]}
    try:
        _quoted(data=data, key=f"quoted-{key}")
    except RuntimeError:
        st.text("".join(piece.text for piece in pieces))


def draw_text(text: str, *, key: str) -> None:
    """A text as it stands; a long one is cut, with a switch that shows all of it."""
    st.text(_shown(text, key))
    _draw_switch(text, key)


def _shown(text: str, key: str) -> str:
    return text if st.session_state.get(f"whole-{key}") else cut_short(text, at_most=SHOWN_CHARS)


def _draw_switch(text: str, key: str) -> None:
    if len(text) > SHOWN_CHARS:
        st.toggle(f"Show all {len(text):,} characters", key=f"whole-{key}")
