"""Bytes to text: UTF-8 strictly, UTF-16 by its BOM, else Portuguese in cp1252, else refused."""

import codecs

import pytest

from rag_core.sources.decoding import MAX_BYTES, Decoded, Undecodable, decode, is_lfs_pointer

REGRA = "Regra de negócio: não há exceções."


def test_an_empty_file_is_empty_text() -> None:
    assert decode(b"") == Decoded(text="", encoding="utf-8", nul_removed=0)


def test_utf_8_is_read_with_and_without_a_byte_order_mark() -> None:
    for mark in (b"", codecs.BOM_UTF8, codecs.BOM_UTF8 * 2):
        assert decode(mark + REGRA.encode()) == Decoded(text=REGRA, encoding="utf-8", nul_removed=0)


@pytest.mark.parametrize(
    ("mark", "codec"), [(codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")]
)
def test_utf_16_is_read_by_its_byte_order_mark(mark: bytes, codec: str) -> None:
    text = REGRA + " 👍"
    assert decode(mark + text.encode(codec)) == Decoded(text=text, encoding="utf-16", nul_removed=0)


def test_broken_utf_16_is_refused_and_never_read_as_something_else() -> None:
    accented = "negócio".encode("cp1252")
    with pytest.raises(Undecodable):
        decode(codecs.BOM_UTF16_LE + accented + b"\x00\xd8")
    with pytest.raises(Undecodable):
        decode(codecs.BOM_UTF16_LE + "a".encode("utf-16-le") + b"a")


def test_portuguese_in_cp1252_is_read_and_noted() -> None:
    found = decode((REGRA + " “aspas” – 5 €").encode("cp1252"))
    assert found == Decoded(text=REGRA + " “aspas” – 5 €", encoding="cp1252", nul_removed=0)
    assert found.notes == ("read as cp1252",)


def test_iso_8859_1_is_read_the_same_way() -> None:
    assert decode(REGRA.encode("latin-1")).text == REGRA


@pytest.mark.parametrize("word", ["não", "SÃO", "lingüiça", "trÊs"])
def test_one_accented_letter_between_letters_is_enough(word: str) -> None:
    assert decode(b"x " * 50_000 + word.encode("cp1252")).text.endswith(word)


@pytest.mark.parametrize(
    "blob",
    [
        "café".encode("cp1252"),
        "é".encode("cp1252"),
        "1ó2".encode("cp1252"),
        "ñandú España".encode("cp1252"),
        "naïve".encode("cp1252"),
        b"caf\xe9 com leite",
        bytes(range(128, 256)),
    ],
)
def test_without_an_accented_letter_between_letters_a_file_is_refused(blob: bytes) -> None:
    with pytest.raises(Undecodable):
        decode(blob)


@pytest.mark.parametrize("byte", [0x81, 0x8D, 0x8F, 0x90, 0x9D])
def test_a_c1_control_anywhere_refuses_the_file(byte: int) -> None:
    with pytest.raises(Undecodable):
        decode(REGRA.encode("cp1252") + b"a" * 70_000 + bytes([byte]))


def test_utf_8_with_one_bad_byte_at_70_kilobytes_is_refused_not_garbled() -> None:
    text = "você põe o número, ações e âmbito à mão. É só: ÇÊÚÃÔ. ".encode() * 1500
    assert len(text) > 70_000
    for bad in (b"\xff", b"\xe3 ", b"\xc3"):
        with pytest.raises(Undecodable):
            decode(text[:70_000].decode(errors="ignore").encode() + bad + text)


def test_a_refusal_says_why_and_what_to_do() -> None:
    with pytest.raises(Undecodable) as refusal:
        decode(b"\xff")
    assert refusal.value.code == "encoding"
    assert "UTF-8" in refusal.value.message
    assert refusal.value.hint == "Save it as UTF-8."


def test_nul_bytes_are_removed_and_counted() -> None:
    assert decode(b"a\0b") == Decoded(text="ab", encoding="utf-8", nul_removed=1)
    assert decode(b"a\0b").notes == ("1 NUL byte removed",)
    found = decode("não\0 há\0".encode("cp1252"))
    assert found == Decoded(text="não há", encoding="cp1252", nul_removed=2)
    assert found.notes == ("read as cp1252", "2 NUL bytes removed")
    assert decode(codecs.BOM_UTF16_LE + "a\0".encode("utf-16-le")).nul_removed == 1


def test_an_ordinary_file_has_no_notes() -> None:
    assert decode(REGRA.encode()).notes == ()


def test_every_line_end_becomes_a_line_feed() -> None:
    assert decode(b"a\r\nb\rc\nd\r\r\ne").text == "a\nb\nc\nd\n\ne"


def test_surrogates_in_utf_8_are_refused() -> None:
    with pytest.raises(Undecodable):
        decode(b"a\xed\xa0\x80b")


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d" * 32 + b"\nsize 12345\n"


def test_an_lfs_pointer_is_known_by_its_first_line_and_its_size() -> None:
    assert is_lfs_pointer(POINTER)
    assert is_lfs_pointer(POINTER.replace(b"\n", b"\r\n"))
    assert is_lfs_pointer(POINTER + b"x" * (999 - len(POINTER)))


@pytest.mark.parametrize(
    "blob",
    [
        b"",
        b"# Sobre LFS\n" + POINTER,
        POINTER + b"x" * (1000 - len(POINTER)),
        POINTER.replace(b"spec/v1", b"spec/v10"),
        b" " + POINTER,
    ],
)
def test_anything_else_is_no_lfs_pointer(blob: bytes) -> None:
    assert not is_lfs_pointer(blob)


def test_the_largest_file_is_two_megabytes() -> None:
    assert MAX_BYTES == 2_000_000
