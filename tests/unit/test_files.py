"""A file is written whole or stays as it was, also on a disk that is full."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from rag_core.errors import UsageError
from rag_core.files import write_atomically, write_together

# no file of this process grows beyond one block: to a program, a disk that is full
WRITE = """
import resource, sys
from pathlib import Path
from rag_core.errors import UsageError
from rag_core.files import write_together
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    write_together({Path(sys.argv[1]): "new", Path(sys.argv[2]): "x" * 5000})
except UsageError as error:
    print(error.message)
"""


def test_where_one_text_finds_no_room_every_file_stays_as_it_was(tmp_path: Path) -> None:
    first, second = tmp_path / "run.trec", tmp_path / "run.trec.qrels"
    first.write_text("old", encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-B", "-c", WRITE, str(first), str(second)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert ended.stdout == f"{second} can't be written: File too large.\n"
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [
        ("run.trec", "old")
    ]


def test_texts_keep_their_line_ends_files_their_modes_and_links_stay(tmp_path: Path) -> None:
    file, link = tmp_path / "casos.yaml", tmp_path / "link.yaml"
    file.touch(mode=0o640)
    link.symlink_to(file.name)
    write_atomically(link, "a\r\nção\n")
    assert link.is_symlink()
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == ("a\r\nção\n".encode(), 0o640)
    write_atomically(tmp_path / "novo", "x")
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "novo").stat().st_mode) == 0o666 & ~mask
    assert sorted(path.name for path in tmp_path.iterdir()) == ["casos.yaml", "link.yaml", "novo"]


def test_a_pipe_or_a_device_is_written_into_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    write_together({pipe: "texto"})
    assert reader.communicate(timeout=30)[0] == b"texto"
    assert pipe.is_fifo()


@pytest.mark.parametrize("where", ["nada/aqui.xml", "."])
def test_what_can_not_be_written_is_named(tmp_path: Path, where: str) -> None:
    with pytest.raises(UsageError, match="can't be written") as refusal:
        write_atomically(tmp_path / where, "x")
    assert str(tmp_path / where) in refusal.value.message
    assert list(tmp_path.iterdir()) == []
