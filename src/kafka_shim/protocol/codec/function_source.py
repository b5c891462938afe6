"""Builds and compiles the source of functions, which tracebacks and debuggers show."""

import linecache
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from kafka_shim.protocol.codec.message_spec import ZERO_UUID, FieldSpec, StructSpec

INDENT = "    "

Expression = str
"""A Python expression, as text."""
LocalName = str
"""The name of a local variable of the function."""


class FunctionSource:
    """The lines of a function, its local names, and its constants."""

    def __init__(self, signature: str) -> None:
        self._lines = [f"def {signature}:"]
        self._depth = 1
        self._mark = self._mark_depth = 0  # where `insert_line_at_mark` puts its next line
        self._local_counts: dict[str, int] = {}
        self._constants: dict[str, object] = {}

    @property
    def text(self) -> str:
        return "\n".join(self._lines) + "\n"

    def add_line(self, line: str) -> None:
        self._lines.append(INDENT * self._depth + line)

    def mark_insertion_point(self) -> None:
        """Let `insert_line_at_mark` insert its lines here."""
        self._mark, self._mark_depth = len(self._lines), self._depth

    def insert_line_at_mark(self, line: str) -> None:
        """Write a line at the mark, in its block."""
        self._lines.insert(self._mark, INDENT * self._mark_depth + line)
        self._mark += 1

    @contextmanager
    def indented_block(self, head: str) -> Iterator[None]:
        """Write `head:`, and indent the lines of the `with` block (at least one)."""
        self.add_line(f"{head}:")
        self._depth += 1
        yield
        self._depth -= 1

    @contextmanager
    def unconditional_block(self) -> Iterator[None]:
        """Replace `indented_block` where no condition is needed."""
        yield

    def new_local(self, name: str) -> LocalName:
        """Return an unused name for a local variable."""
        count = self._local_counts.get(name, 0)
        self._local_counts[name] = count + 1
        return f"{name}_" if not count else f"{name}_{count}"

    def add_constant(self, name: str, value: object) -> str:
        """Make `value` a constant of the function, and return its name."""
        self._constants.setdefault(name, value)
        return name

    def compile(self, title: str) -> Callable[..., Any]:
        """Return the function; tracebacks show `title` as its file."""
        file_name = f"<{title}>"
        text = self.text
        linecache.cache[file_name] = (len(text), None, text.splitlines(keepends=True), file_name)
        namespace = dict(self._constants)
        exec(compile(text, file_name, "exec"), namespace)  # noqa: S102 - the text is ours
        function: Callable[..., Any] = namespace[text[4 : text.index("(")]]  # type: ignore[assignment]
        return function


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
