"""What the row builders share: the columns being filled, the selection, requests still open."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from protocol.api_versions import RELEASES
from protocol.enums import ApiKey
from protocol.trace.blocks import BlockHeader
from protocol.trace.entries import Connection
from protocol.trace.segments import Block

if TYPE_CHECKING:
    from pipeline.derived import Planned

Person = Mapping[str, object]
"""What every row about one connection begins with."""

_WRITER = re.compile(r"(.+)-\d{8}\.ktrace")


class Selection(msgspec.Struct, frozen=True):
    """Which entries are wanted: times in microseconds, [since, until); no APIs means all.

    `release` decides which accesses were ways to meet the same requirement. `names` are those of
    topic ids, for accesses that are derived.
    """

    since_us: int | None = None
    until_us: int | None = None
    apis: frozenset[int] = frozenset()
    release: str = RELEASES[-1]
    names: dict[bytes, str] = {}

    def overlaps(self, header: BlockHeader) -> bool:
        return (self.since_us is None or header.last_us >= self.since_us) and (
            self.until_us is None or header.first_us < self.until_us
        )

    def wants(self, time_us: int, api_key: int) -> bool:
        return (
            (not self.apis or api_key in self.apis)
            and (self.since_us is None or time_us >= self.since_us)
            and (self.until_us is None or time_us < self.until_us)
        )


class Pending:
    """Requests that are not answered yet: their time, and the frames that are asked for later.

    `planned` are those whose accesses are derived and whose answer is to come, with who sent them.
    `counts` has the different accesses so far: requests, first and last time, and an example.
    """

    def __init__(self) -> None:
        self.times: dict[tuple[int, int], int] = {}
        self.frames: dict[tuple[int, int], bytes] = {}
        self.planned: dict[tuple[int, int], tuple[Person, Planned]] = {}
        self.counts: dict[tuple[Any, ...], list[Any]] = {}


class Columns:
    """Values by column, until they are a batch. Rows give more than is wanted; it is left out."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._values: dict[str, list[Any]] = {name: [] for name in schema.names}
        self._rows = 0

    def __len__(self) -> int:
        return self._rows

    def wants(self, *names: str) -> bool:
        """Whether one of these columns is there: some cost more than others."""
        return any(name in self._values for name in names)

    def add(self, *parts: Mapping[str, object]) -> None:
        """One row; a column that no part has is null."""
        self._rows += 1
        for name, values in self._values.items():
            for part in parts:
                if name in part:
                    values.append(part[name])
                    break
            else:
                values.append(None)

    def batch(self) -> pa.RecordBatch:
        """What was collected; the columns are empty then."""
        arrays = [pa.array(self._values[field.name], field.type) for field in self._schema]
        rows = self._rows
        for values in self._values.values():
            values.clear()
        self._rows = 0
        if not arrays:  # `count()` asks for no column at all
            return pa.RecordBatch.from_struct_array(pa.array([{}] * rows, pa.struct([])))
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


def writer_of(path: str) -> str:
    """The writer that a segment's name begins with."""
    found = _WRITER.fullmatch(Path(path).name)
    return found[1] if found else Path(path).name


def people(block: Block) -> dict[int, tuple[Connection, Person]]:
    """The connections of a block by number, each with what every row of it begins with."""
    writer = writer_of(block.path)
    return {
        one.number: (
            one,
            {
                "writer": writer,
                "connection": one.writer_connection,
                "node_id": one.node_id,
                "listener": one.listener,
                "principal": one.principal,
                "host": one.host,
                "port": one.port,
                "software_name": one.software_name,
                "software_version": one.software_version,
            },
        )
        for one in block.body.connections
    }


def api_name(key: int) -> str:
    try:
        return ApiKey(key).wire_name
    except ValueError:
        return str(key)
