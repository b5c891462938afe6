"""The report of a client's run as a file; several reports can be shown as one page."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from kafka_shim.shim.conformance.case import Level, Outcome, Result
from kafka_shim.shim.conformance.frames import Frame
from kafka_shim.shim.errors import ConfigError


class Row(msgspec.Struct, frozen=True):
    """The result of a case with a release; for the fields see `Case` and `Result`."""

    id: str
    what: str
    origin: str
    level: Level
    kafka_version: str
    outcome: Outcome
    response: str
    wire: str
    said: str
    expected: str
    done: str
    frames: tuple[Frame, ...]
    seconds: float
    breaks: bool


class Report(msgspec.Struct, frozen=True):
    """The results of a client."""

    client: str
    results: tuple[Row, ...]

    def of(self, outcome: Outcome) -> list[Row]:
        return [row for row in self.results if row.outcome is outcome]

    def at(self, release: str) -> "Report":
        """Return the part of the report about one release."""
        rows = tuple(row for row in self.results if row.kafka_version == release)
        return Report(self.client, rows)

    @property
    def totals(self) -> str:
        """The number of cases by outcome, as text."""
        counts = Counter(row.outcome for row in self.results)
        return ", ".join(f"{counts[outcome]} {outcome.value}" for outcome in Outcome)

    @property
    def failures(self) -> int:
        """The number of cases because of which the run fails."""
        return sum(row.breaks for row in self.results)

    @property
    def releases(self) -> Sequence[str]:
        return list(dict.fromkeys(row.kafka_version for row in self.results))


def report_of(client: str, results: Iterable[Result]) -> Report:
    """Return the report of a run, in the order of the cases."""
    return Report(client, tuple(_row(result) for result in results))


def _row(result: Result) -> Row:
    case = result.case
    return Row(
        id=case.id,
        what=case.what,
        origin=case.origin,
        level=case.level,
        kafka_version=result.release,
        outcome=result.outcome,
        response=case.response,
        wire=case.wire,
        said=result.said,
        expected=result.expected,
        done=result.done,
        frames=result.frames,
        seconds=round(result.seconds, 3),
        breaks=result.breaks,
    )


def read_report(path: str) -> Report:
    """Read a report that `--format json` wrote; ConfigError if the file is not one."""
    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=Report)
    except OSError as error:
        raise ConfigError(f"cannot read `{path}`: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise ConfigError(f"`{path}` is not a report of `conformance suite`: {error}") from error
