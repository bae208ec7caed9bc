"""Where a Markdown text's HTML comments stand.

Only what a reader never sees is a comment: `<!-- -->` in a fence, a code span, an escape, a script or an
attribute is text. A comment ends within the block that it begins in. One that is never closed is a comment
only where CommonMark hides the rest too, at the start of an HTML block; elsewhere its text is shown, so kept.

Links are not looked at: code spans, autolinks and tags bind tighter than brackets, so the answer is the same
but for a comment inside a link's address, and the cost stays linear on hostile input.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, html_inline
from markdown_it.token import Token

Extent = tuple[int, int]

_OPENER = "<!--"
_CLOSER = "-->"
_RAW_TEXT_BLOCK = re.compile(r"[\s>]*<(?:script|style|textarea)\b", re.IGNORECASE)


def find_comments(text: str, tokens: Sequence[Token], lines: Sequence[int]) -> list[Extent]:
    """The spans of all comments in order, disjoint; [] without any.

    A comment that has its lines to itself takes its last newline with it.

    Args:
        text: What was parsed.
        tokens: Its block tokens; inline contents need not be parsed.
        lines: The offset of each line's start, and one more for the end.
    """
    if _OPENER not in text:
        return []
    spans = [*_block_comments(text, tokens, lines), *_inline_comments(text, tokens, lines)]
    return sorted(_with_own_lines(text, span) for span in spans)


def _block_comments(text: str, tokens: Sequence[Token], lines: Sequence[int]) -> Iterator[Extent]:
    for token in tokens:
        if token.type != "html_block" or token.map is None:
            continue
        begin, end = lines[token.map[0]], lines[token.map[1]]
        if _RAW_TEXT_BLOCK.match(text, begin, end):
            continue
        opener = text.find(_OPENER, begin, end)
        while opener != -1:
            # `<!-->` and `<!--->` are whole comments, so the closer may share the opener's dashes.
            closer = text.find(_CLOSER, opener + 2, end)
            if closer == -1:
                if token.content.lstrip().startswith(_OPENER) and text.find(_CLOSER, begin, end) == -1:
                    yield opener, end
                break
            yield opener, closer + len(_CLOSER)
            opener = text.find(_OPENER, closer + len(_CLOSER), end)


def _inline_comments(text: str, tokens: Sequence[Token], lines: Sequence[int]) -> Iterator[Extent]:
    """Comments in paragraphs, headings and cells.

    A block's inline content is its source less indentation, quote marks and outer pipes, none of which holds
    an opener or a closer. So the n-th of either in the content is the n-th in the source.
    """
    source_lines: Sequence[int] | None = None
    openers: list[int] = []
    closers: list[int] = []
    opened = closed = 0
    for token in tokens:
        content = token.content
        if token.type != "inline" or token.map is None or not (_OPENER in content or _CLOSER in content):
            continue
        if token.map != source_lines:
            # The cells of one row share their line; their counts go on from cell to cell.
            source_lines = token.map
            begin, end = lines[token.map[0]], lines[token.map[1]]
            openers, closers = _positions(text, _OPENER, begin, end), _positions(text, _CLOSER, begin, end)
            opened = closed = 0
        content_openers = _positions(content, _OPENER, 0, len(content))
        content_closers = _positions(content, _CLOSER, 0, len(content))
        for begin, end in _comments_of(content):
            opener = openers[opened + bisect_left(content_openers, begin)]
            closer = closers[closed + bisect_left(content_closers, end - len(_CLOSER))]
            yield opener, closer + len(_CLOSER)
        opened += len(content_openers)
        closed += len(content_closers)


def _comments_of(content: str) -> Iterator[Extent]:
    tokens: list[Token] = []
    _SCANNER.inline.parse(content, _SCANNER, {}, tokens)
    for token in tokens:
        begin = token.meta.get("begin")
        if begin is not None:
            yield begin, begin + len(token.content)


def _positions(text: str, part: str, begin: int, end: int) -> list[int]:
    found: list[int] = []
    position = text.find(part, begin, end)
    while position != -1:
        found.append(position)
        position = text.find(part, position + len(part), end)
    return found


def _with_own_lines(text: str, span: Extent) -> Extent:
    begin, end = span
    line_start, line_end = begin, end
    while line_start > 0 and text[line_start - 1] in " \t":
        line_start -= 1
    while line_end < len(text) and text[line_end] in " \t":
        line_end += 1
    starts_line = line_start == 0 or text[line_start - 1] == "\n"
    if starts_line and line_end < len(text) and text[line_end] == "\n":
        return line_start, line_end + 1
    return span


def _note_comment(state: StateInline, silent: bool) -> bool:
    """The parser's own rule for inline HTML, which does not keep positions."""
    begin = state.pos
    matched = html_inline(state, silent)
    if matched and not silent and state.src.startswith(_OPENER, begin):
        state.tokens[-1].meta["begin"] = begin
    return matched


def _scanner() -> MarkdownIt:
    """An inline parser that knows only what may hide a comment."""
    parser = MarkdownIt("commonmark")
    parser.inline.ruler.enableOnly(["text", "escape", "backticks", "autolink", "html_inline"])
    parser.inline.ruler.at("html_inline", _note_comment)
    parser.inline.ruler2.enableOnly([])
    return parser


_SCANNER = _scanner()
