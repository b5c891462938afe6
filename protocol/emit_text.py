"""Spellings that the emitters of readers and writers share."""

from protocol.emit import Source
from protocol.spec import ZERO_UUID, FieldSpec


def literal(source: Source, field: FieldSpec) -> str:
    """Return the source of a field's default, which is not a struct."""
    assert field.default is not ...
    if field.default == ZERO_UUID:
        return source.constant("ZERO_UUID", ZERO_UUID)
    return repr(field.default)


def struct_name(prefix: str, codes: str) -> str:
    """Return a constant's name for a Struct: `READ_hiB` for `>hiB`."""
    return f"{prefix}_{codes.lstrip('>').replace('?', 'o')}"
