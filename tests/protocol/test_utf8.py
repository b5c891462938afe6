"""UTF-8 is decoded as Java does; the cases were recorded on a broker (see test_damage.py)."""

from hypothesis import given, strategies as st

from kafka_shim.protocol.codec.java_utf8 import decode_like_java

REPLACED = "\N{REPLACEMENT CHARACTER}"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_valid_text_is_unchanged(said: str) -> None:
    assert decode_like_java(said.encode()) == said


@given(st.binary())
def test_anything_decodes(data: bytes) -> None:
    text = decode_like_java(data)
    if b"\xed" not in data:
        assert text == data.decode("utf-8", "replace")


def test_an_encoded_surrogate_is_replaced_by_one_character() -> None:
    assert decode_like_java(b"\xed\xa0\x80x") == REPLACED + "x"
    assert decode_like_java(b"\xed\xa0x") == REPLACED + "x"
    assert decode_like_java(b"\xed\xa0") == REPLACED
    assert decode_like_java(b"\xed") == REPLACED
    assert decode_like_java(b"\xedx") == REPLACED + "x"
    assert decode_like_java(b"\xed\xc0") == REPLACED * 2
    assert decode_like_java("\ud7ff".encode()) == "\ud7ff"
