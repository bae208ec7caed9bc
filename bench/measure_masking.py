"""How long masking takes for texts that are made to be slow for one of its rules, at three sizes.

Usage: python bench/measure_masking.py [FILE]; prints the table, and writes it to FILE where one is named.
A rule that read a text more than once for its length would take four times as long for twice the text.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

from rag_core.sources.masking import mask_text
from rag_core.sources.secret_shapes import RULES

SIZES = (25_000, 50_000, 100_000)
# what each of the other rules begins with or waits for the end of
PIECES = (
    "/",
    "+",
    "=",
    "-",
    "_",
    ".",
    ":",
    "://",
    "a://",
    "a://b:",
    "a://b:c",
    "://a:b@",
    "a",
    "A",
    "0",
    "9:AA",
    "f",
    " ",
    "\n",
    "eyJa.eyJ",
    "eyJ.",
    "eyJaaaaaaaaaaaa.eyJaaaaaaaaaaa",
    "M" + "a" * 23 + ".",
    "0" * 32 + "-us",
    "aaaaaaaaaaaaaa.atlasv1.",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n" + "A" * 64 + "\n",
    "-----END PRIVATE KEY-----",
    "-----BEGIN ",
    "-----BEGIN A ",
    "Private-Lines: 1\n",
    "Private-Lines: 1\n" + "A" * 64,
    "password",
    "password=",
    "password: a1",
    "password is ",
    "senha do ",
    "senha do do do do do ",
    "token",
    "token ",
    "token=",
    "tokentoken:",
    "secret access key ",
    "api_key: ",
    "chave de api ",
    "--token ",
    "--a",
    "--password=",
    "bearer ",
    "authorization: basic ",
    "login a password ",
    "login ",
    "curl ",
    "curl -u ",
    "mysql ",
    "mysql -p",
    "sshpass -p ",
    "a:1:b:c:",
    "\na:1:b:c:",
    "?sig=",
    "&sig=",
    '"auth": "',
    '\\"auth\\": \\"',
    "data:",
    "data:a;base64,",
    "data:image/png;base64,AAAA",
    "AKIA" + "A" * 16 + " ",
    "AKIA" + "A" * 16 + "a" * 40 + " ",
    "111.444.777-35 ",
    "1",
    "11.222.333/0001-81 ",
    "[masked: ",
    "é",
    "\\n",
    "\\",
)


def pieces() -> Iterator[str]:
    """Everything that is repeated: each beginning of a token, alone and before signs of it, and the pieces above."""
    for beginning in dict.fromkeys(beginning for _, beginning, _ in RULES):
        yield beginning
        yield f"{beginning}a1"
    yield from PIECES


def seconds(piece: str, size: int) -> float:
    """The time for so many characters of the piece."""
    text = piece * (size // len(piece))
    start = time.process_time()
    mask_text(text, tax_numbers=True)
    return time.process_time() - start


def main() -> None:
    """Measure and print."""
    rows = [(piece, [seconds(piece, size) for size in SIZES]) for piece in pieces()]
    rows.sort(key=lambda row: row[1][-1], reverse=True)
    worst = max(times[2] / times[0] for _, times in rows if times[0] > 0.005)
    lines = [
        "# Masking texts that are made to be slow",
        "",
        f"{len(rows)} pieces, each repeated to three sizes; milliseconds. Four times the text takes",
        f"at most {worst:.1f} times as long, where it takes more than 5 ms at all.",
        "",
        f"| repeated | {' | '.join(f'{size // 1000} kB' for size in SIZES)} | largest : smallest |",
        "|---|--:|--:|--:|--:|",
        *(
            f"| `{piece.encode('unicode_escape').decode()[:40].replace('|', '¦')}` | "
            f"{' | '.join(f'{1000 * each:.1f}' for each in times)} | {times[2] / times[0]:.1f} |"
            for piece, times in rows
        ),
        "",
    ]
    print("\n".join(lines))
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
