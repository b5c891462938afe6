"""UTF-8 is decoded as Java does; the cases were recorded on a broker (see test_damage.py)."""

from hypothesis import given, strategies as st

from kafka_shim.protocol.codec.java_utf8 import decode_like_java, text

REPLACED = "\N{REPLACEMENT CHARACTER}"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_valid_text_is_unchanged(said: str) -> None:
    assert text(said.encode()) == decode_like_java(said.encode()) == said


@given(st.binary())
def test_anything_decodes(data: bytes) -> None:
    assert text(data) == decode_like_java(data)
    if b"\xed" not in data:
        assert text(data) == data.decode("utf-8", "replace")


def test_an_encoded_surrogate_is_replaced_by_one_character() -> None:
    assert text(b"\xed\xa0\x80x") == REPLACED + "x"
    assert text(b"\xed\xa0x") == REPLACED + "x"
    assert text(b"\xed\xa0") == REPLACED
    assert text(b"\xed") == REPLACED
    assert text(b"\xedx") == REPLACED + "x"
    assert text(b"\xed\xc0") == REPLACED * 2
    assert text("\ud7ff".encode()) == "\ud7ff"
