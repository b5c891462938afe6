"""ByteChunks of source that several emitters need."""

from collections.abc import Mapping

from kafka_shim.protocol.codec.function_source import Expression, FunctionSource
from kafka_shim.protocol.codec.message_spec import ZERO_UUID, FieldSpec, StructSpec


def non_struct_default_expression(source: FunctionSource, field: FieldSpec) -> Expression:
    """Return the source of a field's default, which is not a struct."""
    assert field.default is not ...
    if field.default == ZERO_UUID:
        return source.add_constant("ZERO_UUID", ZERO_UUID)
    return repr(field.default)


def default_expression(
    source: FunctionSource, classes: Mapping[str, type], field: FieldSpec
) -> Expression:
    """Return the source of a field's default."""
    if field.default is not ...:
        return non_struct_default_expression(source, field)
    assert field.struct is not None
    return f"{source.add_constant(field.struct.name, classes[field.struct.name])}()"


def constructor_expression(
    source: FunctionSource,
    classes: Mapping[str, type],
    struct: StructSpec,
    locals_by_field: Mapping[str, str],
) -> str:
    """Return the call that builds a struct from locals by field name.

    Arguments are positional; fields without a local get their default, the last ones by omission.
    """
    arguments = [locals_by_field.get(field.name) for field in struct.fields]
    while arguments and arguments[-1] is None:
        arguments.pop()
    pairs = zip(struct.fields, arguments, strict=False)
    chunks = [default_expression(source, classes, f) if v is None else v for f, v in pairs]
    name = source.add_constant(struct.name, classes[struct.name])
    return f"{name}({', '.join(chunks)})"


def struct_constant_name(prefix: str, struct_codes: str) -> str:
    """Return a constant's name for a Struct: `READ_hiB` for `>hiB`."""
    return f"{prefix}_{struct_codes.lstrip('>').replace('?', 'o')}"
