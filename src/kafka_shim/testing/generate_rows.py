"""Write rows.py, the columns of rows for type checkers, from the bodies of the control API.

`python -m kafka_shim.testing.generate_rows`
"""

import inspect
from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Any, Final, get_args, get_origin, get_type_hints

import msgspec

from kafka_shim.shim.control import bodies, state_bodies

FILE: Final = Path(__file__).parent / "rows.py"
SHAPES: Final[tuple[type[msgspec.Struct], ...]] = (
    bodies.Health,
    bodies.TopicRow,
    bodies.CompactedPartition,
    bodies.AclRow,
    bodies.GroupRow,
    bodies.ClusterState,
    state_bodies.HeaderRow,
    state_bodies.RecordRow,
    state_bodies.ProducedRecord,
    state_bodies.AssignedTopic,
    state_bodies.MemberRow,
    state_bodies.GroupOffset,
    state_bodies.GroupDetail,
    state_bodies.OffsetChange,
    state_bodies.GroupOffsets,
    state_bodies.TopicPartitionRow,
    state_bodies.TransactionRow,
    state_bodies.ProducerRow,
    state_bodies.AllowedPrincipalRow,
    state_bodies.DeniedPrincipalRow,
    state_bodies.WhoCanRows,
    bodies.AuthenticationRow,
    bodies.NodeRow,
    bodies.TelemetryPushRow,
    bodies.RequestRow,
    bodies.DecisionRow,
    bodies.FaultRow,
)
RARELY_NONE: Final = frozenset({"bytes_decompressed", "request", "would_allow"})
"""Columns that tests index without a check for None."""
HEAD: Final = '''\
"""Rows in results of a test's broker. Generated from `shim/control/bodies.py`: do not edit."""

from typing import Any

from kafka_shim.testing.row import MaybeNone, Row
'''


def rows_source() -> str:
    """Return the source of rows.py."""
    return HEAD + "".join(f"\n\n{_row_source(shape)}" for shape in SHAPES)


def _row_source(shape: type[msgspec.Struct]) -> str:
    columns = get_type_hints(shape)
    doc = (inspect.getdoc(shape) or "").replace("null", "None")
    end = '\n"""' if "\n" in doc else '"""'
    lines = [f"class {_row_name(shape)}(Row):", *f'"""{doc}{end}'.splitlines(), ""]
    lines += [f"{name}: {_column_type(name, declared)}" for name, declared in columns.items()]
    lines += _constructor_lines(columns)
    first, *others = lines
    return "\n".join([first, *(f"    {line}" if line else "" for line in others)]) + "\n"


def _row_name(shape: type[msgspec.Struct]) -> str:
    return shape.__name__.removesuffix("Rows").removesuffix("Row") + "Row"


def _column_type(name: str, declared: Any) -> str:
    """Return the type of a column; structs other than rows are dicts."""
    if get_origin(declared) is list:
        [item] = get_args(declared)
        return f"list[{_column_type(name, item)}]"
    alternatives = get_args(declared)
    if NoneType in alternatives:
        [known] = (each for each in alternatives if each is not NoneType)
        missing = "MaybeNone" if name in RARELY_NONE else "None"
        return f"{_column_type(name, known)} | {missing}"
    if declared in SHAPES:
        return _row_name(declared)
    if isinstance(declared, type) and issubclass(declared, msgspec.Struct):
        return "dict[str, Any]"
    return declared.__name__ if not alternatives else str(declared).replace("typing.", "")


def _constructor_lines(columns: dict[str, Any]) -> Iterator[str]:
    """Yield the constructor of a row that has lists of rows."""
    nested = {
        name: _row_name(get_args(declared)[0])
        for name, declared in columns.items()
        if get_origin(declared) is list and get_args(declared)[0] in SHAPES
    }
    if nested:
        yield from ("", "def __init__(self, columns: dict[str, Any]) -> None:")
        yield "    super().__init__(columns)"
    for name, row in nested.items():
        yield f'    self["{name}"] = [{row}(each) for each in columns["{name}"]]'


if __name__ == "__main__":
    FILE.write_text(rows_source(), encoding="utf-8")
