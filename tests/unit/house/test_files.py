"""A file is read within bounds, and written whole or stays as it was, also on a disk that is full."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from rag_core.errors import InvalidInput, UsageError
from rag_core.evaluation.baselines import MOST_LISTED, list_baselines, read_baseline
from rag_core.files import NotReadable, read_regular_file, write_atomically, write_together
from rag_core.golden.baseline_file import MAX_BYTES
from rag_core.settings.golden_folder import read_golden_set

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
        cwd=Path(__file__).parents[3],
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


def test_a_file_is_read_within_its_bound_and_nothing_else_is_read(tmp_path: Path) -> None:
    file, link, device = tmp_path / "a", tmp_path / "link", tmp_path / "device"
    file.write_bytes(b"12345")
    link.symlink_to(file.name)
    device.symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe")

    assert read_regular_file(file, at_most=5) == b"12345"
    assert read_regular_file(link, at_most=5, through_links=True) == b"12345"
    assert read_regular_file(tmp_path / "none", at_most=5) is None
    for path, through_links, words in (
        (file, False, None),
        (link, False, "symbolic link"),
        (device, False, "symbolic link"),
        (device, True, "no regular file"),
        (tmp_path / "pipe", True, "no regular file"),
        (tmp_path, True, "no regular file"),
    ):
        with pytest.raises(NotReadable, match=words):
            read_regular_file(path, at_most=4, through_links=through_links)


@pytest.mark.parametrize("name", ["cases.yaml", "baselines/z.json"])
def test_a_committed_link_to_a_device_is_refused_in_words(tmp_path: Path, name: str) -> None:
    (tmp_path / "baselines").mkdir()
    (tmp_path / name).symlink_to("/dev/zero")
    if name == "cases.yaml":
        with pytest.raises(UsageError, match="it is no regular file"):
            read_golden_set(tmp_path / name)
        with pytest.raises(UsageError, match="it is no regular file"):
            read_golden_set(Path("/dev/zero"))
    else:
        with pytest.raises(UsageError, match="it is a symbolic link"):
            read_baseline(tmp_path / "baselines", "z")
        (entry,) = list_baselines(tmp_path / "baselines")
        assert "it is a symbolic link" in str(entry.reason)


def test_only_so_many_baselines_are_read_for_a_list(tmp_path: Path) -> None:
    for number in range(MOST_LISTED + 1):
        (tmp_path / f"b{number:03}.json").write_text("{}", encoding="utf-8")
    (tmp_path / "a.json").write_bytes(b" " * (MAX_BYTES + 1))
    entries = list_baselines(tmp_path)
    reasons = [str(entry.reason) for entry in entries]
    assert len(entries) == MOST_LISTED + 2
    assert "is larger than 24,000 kB" in reasons[0]
    assert "does not say of which format" in reasons[1]
    assert [reason.startswith("It is not read") for reason in reasons[-3:]] == [False, True, True]


def test_documents_of_very_many_parts_are_refused_before_they_are_taken_apart(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text("[" + "[]," * 1_000_000 + "[]]", encoding="utf-8")
    with pytest.raises(InvalidInput, match="more than 2,000,000 parts"):
        read_baseline(tmp_path, "b")
    (tmp_path / "cases.yaml").write_text("- a\n" * 100_001, encoding="utf-8")
    with pytest.raises(InvalidInput, match="more than 100,000 lines and entries"):
        read_golden_set(tmp_path / "cases.yaml")
