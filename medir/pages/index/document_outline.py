"""A document as the index holds it: its text in a row, with each chunk outlined.

One component of fixed markup and script: headings, sizes and texts travel as data and become text nodes, never HTML.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import cast

import streamlit as st
from streamlit.components.v2 import component

from medir.page_kit.signs import FAILED, PASSED
from rag_core.index.outline import repeated_chars
from rag_core.index.reading import SourceChunk

_STYLE = """
.outline { font-family: var(--st-font); color: var(--st-text-color); display: grid; gap: 0.4rem; }
.chunk {
  border: 1px solid var(--st-border-color); border-left: 4px solid #0072B2; border-radius: 0.4rem; overflow: hidden;
}
.chunk.bare { border-left: 4px dashed #D55E00; }
.chunk.chosen { outline: 2px solid var(--st-primary-color); outline-offset: -1px; }
.chunk button {
  display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; width: 100%; border: 0; margin: 0;
  padding: 0.35rem 0.75rem; cursor: pointer; text-align: left; overflow-wrap: anywhere;
  font: 600 0.8125rem/1.5 var(--st-font); color: inherit; background: var(--st-secondary-background-color);
}
.chunk button:hover { color: var(--st-primary-color); }
.chunk button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: -2px; }
.chunk button span + span { font-weight: 400; opacity: 0.85; }
.chunk p {
  margin: 0; padding: 0.5rem 0.75rem; white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.5;
  font-size: 0.9375rem;
}
.chunk .repeated { opacity: 0.6; border-bottom: 1px dotted currentColor; }
"""
_MARKUP = '<div class="outline" lang="pt"></div>'
_SCRIPT = """
export default function ({ data, parentElement, setTriggerValue }) {
  const made = (tag, text, name = "") => {
    const node = document.createElement(tag);
    node.textContent = text;
    node.className = name;
    return node;
  };
  const outline = parentElement.querySelector(".outline");
  outline.replaceChildren(...data.chunks.map((chunk) => {
    const box = made("section", "", "chunk");
    box.classList.toggle("bare", !chunk.embedded);
    box.classList.toggle("chosen", chunk.chosen);
    const head = document.createElement("button");
    head.type = "button";
    head.setAttribute("aria-pressed", chunk.chosen);
    head.append(made("span", chunk.trail), made("span", chunk.told));
    head.onclick = () => setTriggerValue("picked", chunk.id);
    const text = document.createElement("p");
    if (chunk.repeated) {
      const again = made("span", chunk.repeated, "repeated");
      again.title = "repeats the end of the chunk before";
      text.append(again);
    }
    text.append(document.createTextNode(chunk.rest));
    box.append(head, text);
    return box;
  }));
}
"""
_outline = component("medir_outline", html=_MARKUP, css=_STYLE, js=_SCRIPT)
_KEY = "document-outline"


def draw_outline(chunks: Sequence[SourceChunk], *, chosen: str, pick: Callable[[str], None]) -> None:
    """Chunks of one place in a row; a click on a chunk's head calls `pick` with its id."""

    def take() -> None:
        picked = cast("dict[str, str | None]", st.session_state[_KEY]).get("picked")
        if picked:
            pick(picked)

    _outline(key=_KEY, data={"chunks": outlined(chunks, chosen)}, on_picked_change=take)


def outlined(chunks: Sequence[SourceChunk], chosen: str) -> list[dict[str, object]]:
    """What the component draws, a chunk each; `repeated` and `rest` joined are the chunk's text."""
    repeated = [0] + [
        repeated_chars(before.content, chunk.content) if before.origin == chunk.origin else 0
        for before, chunk in pairwise(chunks)
    ]
    return [
        {
            "id": chunk.chunk_id,
            "trail": f"{chunk.number}  {trail_of(chunk)}".rstrip(),
            "told": told_of(chunk),
            "embedded": chunk.model_id is not None,
            "chosen": chunk.chunk_id == chosen,
            "repeated": chunk.content[:again],
            "rest": chunk.content[again:],
        }
        for chunk, again in zip(chunks, repeated, strict=True)
    ]


def trail_of(chunk: SourceChunk) -> str:
    """The headings above a chunk, or the event that it was said in."""
    return " › ".join(chunk.origin.heading_path) or chunk.origin.event_id or ""


def told_of(chunk: SourceChunk) -> str:
    """A chunk's size, and whether it has a vector."""
    vector = f"{PASSED} vector" if chunk.model_id is not None else f"{FAILED} no vector"
    return f"{len(chunk.content):,} characters · {vector}"
