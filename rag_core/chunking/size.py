"""Cutting one section to size.

A piece ends at the paragraph break nearest to `TARGET_CHARS`, looking back `LOOK_BACK_CHARS`; where there is
none, at a word break (a line's end before a space, so that lists and code keep whole lines: any line of up to
`LOOK_BACK_CHARS` characters is whole in some piece); where there is none, hard. The next piece repeats up to
`OVERLAP_CHARS` of what came before, starting at a word, within its own `TARGET_CHARS`.

Tables go by rows. A table that begins within the look-back moves to the next piece; otherwise it is split
before the first row that does not fit, and each following piece repeats the header and delimiter lines, which
then stand in the overlap's stead: nothing inside a table is ever overlapped. A row that does not fit a piece
of its own is cut between cells, and only a cell that does not fit is cut within. A header longer than
`REPEATABLE_HEADER_CHARS` is not repeated: it would leave no room for what it heads.

Source: ADR 0080, part 2 (target, overlap, look-back, order of preference).
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

TARGET_CHARS = 1200
OVERLAP_CHARS = 150
LOOK_BACK_CHARS = 200
REPEATABLE_HEADER_CHARS = TARGET_CHARS // 2

_NON_SPACE = re.compile(r"\S")
_WORD_START = re.compile(r"(?<!\S)\S")
_PARAGRAPH_BREAK = re.compile(r"\n[^\S\n]*\n")
_LAST_PIPE_OF_ROW = re.compile(r"\|[^\S\n]*(?:\n|\Z)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table's lines by offset.

    `rows` are the starts of its body rows, of which there is at least one; `end` is behind the last row and
    before its newline.
    """

    start: int
    rows: tuple[int, ...]
    end: int

    def __post_init__(self) -> None:
        if not self.rows:
            raise ValueError("a table without body rows can't be split by rows")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """The text `[start, end)`, below the `header` of the table that it continues ("" for none)."""

    start: int
    end: int
    header: str = ""

    def content(self, text: str) -> str:
        """What the chunk holds."""
        return self.header + text[self.start : self.end].rstrip()


def cut_to_size(text: str, start: int, end: int, tables: Sequence[Table] = ()) -> tuple[Piece, ...]:
    """Pieces that cover every character of `[start, end)` but whitespace, in order; () for a blank span.

    Linear in the span: two pieces in a row advance by at least `TARGET_CHARS` less header and overlap.

    Args:
        text: The text that all offsets refer to.
        start: Where the section begins, at the start of a line.
        end: Where it ends.
        tables: The tables within the section, in order.

    Returns:
        Pieces of at most `TARGET_CHARS` characters, header and overlap included.
    """
    end = start + len(text[start:end].rstrip())
    pieces: list[Piece] = []
    covered = _content_start(text, start, end)
    while covered < end:
        begin = _overlap_start(text, covered, pieces[-1].start, tables) if pieces else covered
        piece = _piece_from(text, begin, end, tables)
        if piece.end <= covered:
            # The overlap left no room for the first row of the table behind it.
            piece = _piece_from(text, covered, end, tables)
        pieces.append(piece)
        covered = _content_start(text, piece.end, end)
    return tuple(pieces)


def _content_start(text: str, position: int, end: int) -> int:
    """The first text at or after `position`, with its line's indentation where all of that is still ahead."""
    found = _NON_SPACE.search(text, position, end)
    if found is None:
        return end
    line_start = text.rfind("\n", position, found.start()) + 1
    if line_start == 0:
        at_line_start = position == 0 or text[position - 1] == "\n"
        line_start = position if at_line_start else found.start()
    # Indentation as long as an overlap is no layout any more; kept, it could fill a piece with blanks.
    return line_start if found.start() - line_start <= OVERLAP_CHARS else found.start()


def _overlap_start(text: str, covered: int, previous_start: int, tables: Sequence[Table]) -> int:
    """Where a piece begins whose new text begins at `covered`; `covered` itself where nothing is repeated."""
    floor = max(covered - OVERLAP_CHARS, previous_start + 1)
    table = _last_table_before(tables, covered)
    if table is not None:
        # Within the table this leaves nothing to search.
        floor = max(floor, table.end)
    word = _WORD_START.search(text, floor, covered)
    return word.start() if word else covered


def _piece_from(text: str, start: int, end: int, tables: Sequence[Table]) -> Piece:
    """The piece that begins at `start`: all that is left when it fits, else up to the best cut."""
    table = _last_table_before(tables, start)
    header = ""
    if table is not None and table.rows[0] <= start < table.end:
        header = text[table.start : table.rows[0]]
        if len(header) > REPEATABLE_HEADER_CHARS:
            header = ""
    limit = start + TARGET_CHARS - len(header)
    if end <= limit:
        return Piece(start=start, end=end, header=header)
    table = _last_table_before(tables, limit)
    if table is not None and limit < table.end:
        return Piece(start=start, end=_cut_in_table(text, start, limit, table), header=header)
    floor = limit - LOOK_BACK_CHARS
    if table is not None:
        floor = max(floor, table.end)
    return Piece(start=start, end=_cut_in_prose(text, floor, limit), header=header)


def _cut_in_prose(text: str, floor: int, limit: int) -> int:
    """The best cut in `[floor, limit]`: the last paragraph break, line end or space, else `limit`."""
    line_end = last_line_end = text.rfind("\n", floor, limit + 1)
    while line_end != -1:
        if _PARAGRAPH_BREAK.match(text, line_end):
            return line_end
        line_end = text.rfind("\n", floor, line_end)
    if last_line_end != -1:
        return last_line_end
    spaces = (position for position in range(limit, floor - 1, -1) if text[position].isspace())
    return next(spaces, limit)


def _cut_in_table(text: str, start: int, limit: int, table: Table) -> int:
    """The best cut for a piece whose limit falls into `table`; it lies behind `start`."""
    if start < table.start and table.start >= limit - LOOK_BACK_CHARS:
        return table.start
    # A row's closing newline need not fit, and a header goes nowhere without a first row.
    row = bisect_right(table.rows, limit + 1) - 1
    if row >= 1 and table.rows[row] > start:
        return table.rows[row]
    if start < table.start:
        return table.start
    body = table.rows[0]
    floor = max(start, body) if body < limit else start
    pipe = text.rfind("|", floor + 1, limit + 1)
    while pipe != -1:
        if text[pipe - 1] != "\\" and not _LAST_PIPE_OF_ROW.match(text, pipe):
            return pipe
        pipe = text.rfind("|", floor + 1, pipe)
    return _cut_in_prose(text, max(limit - LOOK_BACK_CHARS, floor + 1), limit)


def _last_table_before(tables: Sequence[Table], position: int) -> Table | None:
    """The last table that begins before `position`."""
    index = bisect_left(tables, position, key=lambda table: table.start)
    return tables[index - 1] if index else None
