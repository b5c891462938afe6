"""Compare the shim with franz-go's kfake and a real Kafka, request by request.

    python -m benchmarks.against [--only TEXT,...] [--brokers NAME,...] [--modes NAME,...]
                                 [--rounds N] [--quick] [--json] [--check] [--publish]

The brokers take turns; the client uses one core, the broker the other. Figures are medians over
the rounds: microseconds per request, of time and of the broker's processor time. Clients log in
and need ACLs. Each kind is measured with equal requests and with different ones.
`--only` takes parts of kinds' names, separated by commas. A further broker, `compiled`, is the
shim with modules compiled by mypyc. `--publish` writes results/against.md, in place of the
last ones, with the time of each stage of requests that miss their goals. `--quick` measures only
what has goals, in nine rounds: it takes four minutes, not an hour. Needs Go, Java 17 and Maven.
"""

import argparse
import contextlib
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

from benchmarks.against import goals
from benchmarks.against.brokers import OPENED, Broker, on_core
from benchmarks.against.client import Peer, Taken, play
from benchmarks.against.compiled import compiled
from benchmarks.against.costs import costs
from benchmarks.against.exchanges import EXCHANGES, Exchange, play as play_whole
from benchmarks.against.kinds import KINDS, Kind
from benchmarks.against.publication import machine_state, publish
from benchmarks.against.setting import Setting, made
from benchmarks.against.table import text
from benchmarks.command import finish

ROUNDS, QUICK_ROUNDS = 21, 9
SECONDS = 0.05
"""What each broker is asked for in a round, of each kind, roughly. All rows are measured in each
round, so that a time in which the machine does something else changes no median.
"""
LEAD = 0.4
"""Requests that come before those of a round, as a part of these; they are not counted.

After the others' turns kfake takes up to a tenth longer for the first of them, the shim hardly any.
With them, Produce, OffsetFetch and Fetch of 1 KiB take as long as in rounds of 0.4 or of 2 s.
"""
WARM = {"real": 3_000}
"""Requests before the first round, so that a compiler has seen them."""
MODES = {"depth 1": (1, 1), "depth 8": (1, 8), "depth 64": (1, 64), "100 connections": (100, 1)}
"""Connections, and requests on their way on each."""
ALL_MODES = (*MODES, goals.WHOLE)
QUICK_BROKERS = ("shim", "kfake", "real")
QUICK_MODES = ("depth 64", "depth 1", goals.WHOLE)
CLIENT_CORE, BROKER_CORE = 0, 1


Named = TypeVar("Named", Kind, Exchange)
_OPENED = OPENED | {"compiled": compiled}


class Side(NamedTuple):
    broker: Broker
    setting: Setting
    peers: list[Peer]


def compare(kind: Kind, sides: list[Side], mode: str, *, different: bool) -> Iterator[goals.Row]:
    """Yield the medians of each broker after each round; the first one is for warming up."""
    connections, depth = MODES[mode]
    taken: dict[str, list[Taken]] = {side.broker.name: [] for side in sides}
    frames = {side.broker.name: kind.frames(side.setting, different=different) for side in sides}
    while True:
        for side in sides:
            name = side.broker.name
            requests = WARM.get(name, 500)
            if taken[name]:
                requests = int(SECONDS / taken[name][0].clock)
            requests = max(2 * connections * depth, min(requests, 20_000))
            lead, ready = (
                list(islice(frames[name], count)) for count in (int(LEAD * requests), requests)
            )
            play(side.broker, side.peers[:connections], lead, depth)
            taken[name].append(play(side.broker, side.peers[:connections], ready, depth))
        yield goals.Row(kind.name, kind.group, different, mode, _medians(taken))


def compare_whole(exchange: Exchange, sides: list[Side]) -> Iterator[goals.Row]:
    """Yield the medians of each broker after each round; the first one is for warming up."""
    taken: dict[str, list[Taken]] = {side.broker.name: [] for side in sides}
    while True:
        for side in sides:
            taken[side.broker.name].append(play_whole(exchange, side.broker, side.peers))
        yield goals.Row(exchange.name, "whole", True, goals.WHOLE, _medians(taken))


def _medians(taken: Mapping[str, list[Taken]]) -> dict[str, dict[str, float]]:
    """Return the medians of each broker, in microseconds, without the first round."""
    return {
        name: {
            part: statistics.median(getattr(each, part) for each in found[1:] or found) * 1e6
            for part in Taken._fields
        }
        for name, found in taken.items()
    }


def measure(options: argparse.Namespace) -> tuple[list[goals.Row], str]:
    """Return the figures, and the state of the machine and the versions."""
    with contextlib.ExitStack() as stack:
        on_core(BROKER_CORE)
        brokers: list[Broker] = [
            stack.enter_context(_OPENED[name]()) for name in options.brokers.split(",")
        ]
        on_core(CLIENT_CORE)
        state = machine_state(brokers, options.rounds)
        sides = [_side(stack, broker) for broker in brokers]
        compared = list(_compared(options.only.lower().split(","), options.modes.split(","), sides))
        for number in range(options.rounds):
            for row in compared:
                next(row)
            print(f"{number + 1} of {options.rounds + 1} rounds", file=sys.stderr, flush=True)
        rows = [next(row) for row in compared]
    if not options.json:
        print(text(rows))
    return rows, state


def _compared(
    parts: Sequence[str], modes: Sequence[str], sides: list[Side]
) -> Iterator[Iterator[goals.Row]]:
    """Yield the comparison of each row."""
    for kind in _named(KINDS, parts):
        for mode in (mode for mode in modes if mode in MODES):
            for different in (True,) if kind.varies else (False, True):
                yield compare(kind, sides, mode, different=different)
    if goals.WHOLE in modes:
        for exchange in _named(EXCHANGES, parts):
            yield compare_whole(exchange, sides)


def _named(kinds: Sequence[Named], parts: Sequence[str]) -> list[Named]:
    """Those whose names have one of the parts in them."""
    return [kind for kind in kinds if any(part in kind.name.lower() for part in parts)]


def _side(stack: contextlib.ExitStack, broker: Broker) -> Side:
    setting = made(broker)
    peers = [Peer(broker) for _ in range(max(connections for connections, _ in MODES.values()))]
    for peer in peers:
        stack.callback(peer.close)
    return Side(broker, setting, peers)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="parts of names of kinds, as in produce,list")
    parser.add_argument(
        "--brokers", help=f"default: {','.join(OPENED)}; with --quick {','.join(QUICK_BROKERS)}"
    )
    parser.add_argument(
        "--modes", help=f"default: {','.join(ALL_MODES)}; with --quick {','.join(QUICK_MODES)}"
    )
    parser.add_argument(
        "--rounds", type=int, help=f"default: {ROUNDS}; with --quick {QUICK_ROUNDS}"
    )
    parser.add_argument("--quick", action="store_true", help="measure only what has goals")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--check", action="store_true", help="exit 3 when a goal is missed")
    parser.add_argument(
        "--publish", action="store_true", help="write them to benchmarks/results/against.md"
    )
    options = parser.parse_args()
    options.brokers = options.brokers or ",".join(QUICK_BROKERS if options.quick else OPENED)
    options.modes = options.modes or ",".join(QUICK_MODES if options.quick else ALL_MODES)
    options.rounds = options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS)
    rows, state = measure(options)
    if options.publish:
        publish(rows, state, costs(goals.rows_that_miss(rows)))
    means = goals.means(rows)
    figures = {"rows": [row._asdict() for row in rows], "means": means}
    lines = [f"{name}: {mean:.2f}" for name, mean in means.items()]
    return finish(options, figures, "\n" + "\n".join(lines), goals.missed(rows))


if __name__ == "__main__":
    sys.exit(main())
