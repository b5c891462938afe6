"""What one small request costs beside much state, counted, not timed.

    python -m benchmarks.growth [--check] [--json] [--small 25] [--steps 5] [--svg FILE]

Each request is counted in the bytecodes that it runs and, with a data directory, in the characters
of the statements that write it. A state has everything at once: so many topics, groups, members,
producers, users and so on, and twice as many in each step.
"""

import math
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from benchmarks.command import finish, parse_arguments
from benchmarks.growth_probes import (
    SETTINGS,
    STATES,
    Probe,
    prepare,
    probes,
    requests_of_every_api,
)
from kafka_shim.shim.storage.storage import Storage
from tests.shim.play import Stage
from tests.shim.request.busy_cluster import BusyCluster
from tests.support.counted_work import count_work


class Cost(NamedTuple):
    """The bytecodes of a request, and the characters of the statements that write its changes."""

    bytecodes: int
    written: int


class CountedStage:
    """A state of a size, without or with a data directory."""

    def __init__(self, stage: Stage, kinds: dict[str, int], directory: Path | None) -> None:
        self.stage = stage
        self.storage = None if directory is None else Storage(directory)
        if self.storage is not None:
            self.stage.dispatcher.set_storage(self.storage)
            self.storage.restore_cluster(self.stage.cluster)
        prepare(self.stage)
        for kind, count in kinds.items():
            STATES[kind](self.stage, count)
        self.commit()

    def commit(self) -> None:
        if self.storage is not None:
            self.storage.commit()

    def close(self) -> None:
        if self.storage is not None:
            self.storage._database.close_without_commit()

    def costs(self, probes: Iterable[Probe]) -> Iterator[tuple[str, Cost]]:
        """Yield the cost of each probe."""
        for probe in probes:
            for _ in range(2):  # the first has to import and to compile
                probe.send()
                self.commit()
            yield probe.name, self._cost(probe)

    def _cost(self, probe: Probe) -> Cost:
        written = 0

        def count(statement: str) -> None:
            nonlocal written
            written += len(statement)

        def work() -> None:
            probe.send()
            self.commit()

        connection = None if self.storage is None else self.storage._database._connection
        if connection is not None:
            connection.set_trace_callback(count)
        counted = count_work(work, "opcode")
        if connection is not None:
            connection.set_trace_callback(None)
        return Cost(counted, written)


def costs_of(
    kinds: dict[str, int], *, with_data_dir: bool, of_every_api: bool = False
) -> dict[str, Cost]:
    """Return the cost of each probe in a new state with so many of these kinds; `of_every_api`: of
    a valid request of each API instead.
    """
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) if with_data_dir else None
        stage = BusyCluster("") if of_every_api else Stage(properties=SETTINGS)
        with closing(CountedStage(stage, kinds, path)) as counted:
            return dict(
                counted.costs(
                    requests_of_every_api(stage)
                    if isinstance(stage, BusyCluster)
                    else probes(stage)
                )
            )


DOUBLING_MAX = 1.3
"""Goal of the curves, where a real Kafka's cost grows, too."""
GROWTH_MAX = 1.05
"""A request beside four times as much may run so many times the bytecodes: names get longer."""
SLACK = Cost(100, 100)


def growing_probes(
    small: int,
    large: int,
    *,
    with_data_dir: bool,
    of_every_api: bool = False,
    kinds: Iterable[str] = STATES,
) -> dict[str, tuple[Cost, Cost]]:
    """Return the costs of the probes that cost more beside `large` than beside `small` state."""
    before, after = (
        costs_of(dict.fromkeys(kinds, size), with_data_dir=with_data_dir, of_every_api=of_every_api)
        for size in (small, large)
    )
    return {
        name: (cost, after[name])
        for name, cost in before.items()
        if any(
            now > then * GROWTH_MAX + slack
            for then, now, slack in zip(cost, after[name], SLACK, strict=True)
        )
    }


def curves(sizes: Sequence[int], *, with_data_dir: bool) -> dict[str, list[Cost]]:
    """Return the costs of each probe beside state of these sizes."""
    found: dict[str, list[Cost]] = {}
    for size in sizes:
        kinds = dict.fromkeys(STATES, size)
        for name, cost in costs_of(kinds, with_data_dir=with_data_dir).items():
            found.setdefault(name, []).append(cost)
    return found


def drawn(sizes: Sequence[int], costs: Mapping[str, list[Cost]]) -> str:
    """Return an SVG with a line for each probe: its bytecodes by size, both logarithmic."""
    most = max(cost.bytecodes for each in costs.values() for cost in each)
    lines = []
    for name, each in costs.items():
        points = " ".join(
            f"{60 + 560 * at / max(1, len(sizes) - 1):.0f},"
            f"{390 - 370 * math.log(cost.bytecodes / 1000) / math.log(most / 1000):.0f}"
            for at, cost in enumerate(each)
        )
        lines.append(f'<polyline points="{points}"><title>{name}</title></polyline>')
    labels = "".join(
        f'<text x="{50 + 560 * at / max(1, len(sizes) - 1):.0f}" y="408">{size}</text>'
        for at, size in enumerate(sizes)
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 420" font-size="11">'
        '<g fill="none" stroke="#36c" stroke-opacity="0.5">' + "".join(lines) + "</g>"
        f'{labels}<text x="4" y="24">{most} bytecodes</text><text x="4" y="390">1000</text></svg>\n'
    )


def main() -> int:
    options = parse_arguments(
        __doc__,
        small=(25, "the first size"),
        steps=(5, "sizes, each twice the one before"),
        svg=("", "file for the curves of the state in memory"),
    )
    sizes = [options.small << step for step in range(options.steps)]
    figures = {
        words: curves(sizes, with_data_dir=with_data_dir)
        for words, with_data_dir in (("in memory", False), ("with a data directory", True))
    }
    lines, missed = [], []
    for words, costs in figures.items():
        lines += [f"{words}, bytecodes beside {sizes} of each kind (characters written)"]
        for name, each in costs.items():
            counts = "  ".join(f"{cost.bytecodes:7} ({cost.written})" for cost in each)
            lines.append(f"{name:50} {counts}")
            for then, now in pairwise(each):
                if now.bytecodes > then.bytecodes * DOUBLING_MAX + SLACK.bytecodes:
                    missed.append(f"{name} {words}: {then.bytecodes} to {now.bytecodes}")
                    break
    if options.svg:
        Path(options.svg).write_text(drawn(sizes, figures["in memory"]), encoding="utf-8")
    shown = {"sizes": sizes, **figures}
    return finish(options, shown, "\n".join(lines), missed)


if __name__ == "__main__":
    sys.exit(main())
