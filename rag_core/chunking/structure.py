"""What a Markdown file is made of: its visible text, its sections, their tables.

CommonMark plus GFM's tables and strike-through, by a real parser: a `#` in a fence, in code or in an HTML
block is no heading. A heading inside a quote or a list item starts no section: it belongs to what is quoted
or listed, and the text behind that does not stand below it.

A section runs from its heading to the next one and begins with its heading lines. One whose text has no
letter or digit outside tags (a heading alone, a rule, a logo) is joined to the next, whose trail the whole
then has; at the end of a file, where there is no next, it stands alone. A heading without words (`#` alone)
closes the headings that its level closes and adds nothing to the trail.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.utils import EnvType

from rag_core.chunking.comments import Extent, find_comments
from rag_core.chunking.front_matter import read_front_matter
from rag_core.chunking.size import Table

MAX_HEADING_CHARS = 200
"""A longer heading is shortened in the trail and as title, which every chunk of its section repeats."""

_PARSED_HEADING_CHARS = 5 * MAX_HEADING_CHARS
_MAX_BRACKETS = 20
_MAX_NESTING = 100
_WORD_CHARACTER = re.compile(r"[^\W_]")
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*)?/?>")
_ATTRIBUTES = re.compile(r"\s*\{\s*[#.:][^{}]*\}\s*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The text `[start, end)` below one trail of headings, and the tables in it."""

    start: int
    end: int
    heading_path: tuple[str, ...]
    tables: tuple[Table, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """A file's visible text, its title, and its sections in order, which cover all of that but blanks.

    `language` is what the file says of itself, whether or not it names a language.
    """

    text: str
    title: str | None
    language: str | None
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heading:
    """A heading by its lines: where it starts, where its text does, and the trail that ends with it."""

    start_line: int
    body_line: int
    trail: tuple[str, ...]


class _VisibleText:
    """A text less some spans of it, and the new offset of each old one."""

    def __init__(self, text: str, hidden: Sequence[Extent]) -> None:
        edges = [0, *(edge for span in hidden for edge in span), len(text)]
        self.text = "".join(text[begin:end] for begin, end in zip(edges[::2], edges[1::2], strict=True))
        self._begins = [begin for begin, _ in hidden]
        self._hidden_before = list(accumulate((end - begin for begin, end in hidden), initial=0))

    def offset(self, old: int) -> int:
        """Where `old` lies now. Of offsets inside a hidden span there is none to give; nothing starts there."""
        return old - self._hidden_before[bisect_right(self._begins, old)]


def read_structure(text: str) -> Structure:
    """The structure of a cleaned Markdown text; an empty one has no sections."""
    front_matter = read_front_matter(text)
    body = text[front_matter.body_start :]
    environment: EnvType = {}
    tokens: list[Token] = []
    _PARSER.block.parse(body, _PARSER, environment, tokens)
    lines = [0, *accumulate(len(line) + 1 for line in body.split("\n"))]
    lines[-1] = len(body)
    visible = _VisibleText(body, find_comments(body, tokens, lines))
    offsets = [visible.offset(line) for line in lines]
    headings = list(_headings(tokens, environment))
    titles = [front_matter.title or "", *(heading.trail[-1] for heading in headings if heading.trail)]
    return Structure(
        text=visible.text,
        title=next((short for title in titles if (short := _one_line(title))), None),
        language=front_matter.language,
        sections=tuple(
            _sections(visible.text, offsets, headings, list(_tables(visible.text, tokens, offsets)))
        ),
    )


def below_headings(content: str) -> str:
    """A section's text without the heading lines that it begins with; all of it where it is nothing but those."""
    tokens: list[Token] = []
    environment: EnvType = {}
    _PARSER.block.parse(content, _PARSER, environment, tokens)
    starts = (token.map[0] for token in tokens if token.map and token.type not in ("heading_open", "inline"))
    first = next(starts, None)
    return (content if first is None else "".join(content.splitlines(keepends=True)[first:])).strip()


def _headings(tokens: Sequence[Token], environment: EnvType) -> Iterator[_Heading]:
    """The headings that start sections, in order."""
    open_headings: list[tuple[int, str]] = []
    for opening, inline in pairwise(tokens):
        if opening.type != "heading_open" or opening.level != 0 or opening.map is None:
            continue
        level = int(opening.tag.removeprefix("h"))
        while open_headings and open_headings[-1][0] >= level:
            open_headings.pop()
        if name := _heading_text(inline.content, environment):
            open_headings.append((level, name))
        trail = tuple(name for _, name in open_headings)
        yield _Heading(start_line=opening.map[0], body_line=opening.map[1], trail=trail)


def _heading_text(content: str, environment: EnvType) -> str:
    """A heading in plain words: no markup, no tags, no trailing `{#anchor}`; images by their alt text."""
    content = content[:_PARSED_HEADING_CHARS]
    # Links cost the square of their unmatched brackets; a line with so many is no title, and stays as it is.
    if content.count("[") > _MAX_BRACKETS:
        return _one_line(content)
    tokens: list[Token] = []
    _PARSER.inline.parse(content, _PARSER, environment, tokens)
    return _one_line(_ATTRIBUTES.sub("", "".join(_plain(tokens))))


def _plain(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type == "image":
            yield from _plain(token.children or ())
        elif token.type in ("softbreak", "hardbreak"):
            yield " "
        elif token.type in ("text", "text_special", "code_inline"):
            yield token.content


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_HEADING_CHARS else line[: MAX_HEADING_CHARS - 1].rstrip() + "…"


def _tables(text: str, tokens: Sequence[Token], offsets: Sequence[int]) -> Iterator[Table]:
    """Tables that have body rows, wherever they are nested: all of a table's rows are lines."""
    for token in tokens:
        if token.type != "table_open" or token.map is None:
            continue
        first, behind = token.map
        rows = tuple(offsets[line] for line in range(first + 2, behind))
        end = offsets[behind]
        if rows:
            yield Table(start=offsets[first], rows=rows, end=end - text.endswith("\n", 0, end))


def _sections(
    text: str, offsets: Sequence[int], headings: Sequence[_Heading], tables: Sequence[Table]
) -> Iterator[Section]:
    preamble = _Heading(start_line=0, body_line=0, trail=())
    behind_last = _Heading(start_line=len(offsets) - 1, body_line=len(offsets) - 1, trail=())
    start = 0
    for heading, following in pairwise([preamble, *headings, behind_last]):
        end = offsets[following.start_line]
        words = _TAG.sub("", text[offsets[heading.body_line] : end])
        if not _WORD_CHARACTER.search(words) and following is not behind_last:
            continue
        first = bisect_left(tables, start, key=lambda table: table.start)
        behind = bisect_left(tables, end, key=lambda table: table.start)
        yield Section(start=start, end=end, heading_path=heading.trail, tables=tuple(tables[first:behind]))
        start = end


def _parser() -> MarkdownIt:
    """Deeper nesting than the parser's default of 20, which eight list levels nearly exhaust."""
    parser = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING})
    return parser.enable(["table", "strikethrough"])


_PARSER = _parser()
