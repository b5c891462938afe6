"""Write the figures of a run to results/against.md, in place of those of the last one.

They are the machine with its state, the figures of each kind of request, the means with their
goals, the missed goals, and where the time of the rows that miss theirs goes.
"""

import datetime as dt
import os
import platform
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.against.brokers import Broker
from benchmarks.against.costs import Cost
from benchmarks.against.goals import EVERYDAY, WHOLE, Row, means, missed, name_of

PAGE = Path(__file__).parents[1] / "results" / "against.md"
_HEAD = """\
# kafka-shim, kfake and a real Kafka

`python -m benchmarks.against --publish` writes this file.

The [benchmarks](../README.md) describe the machine and the goals. Fewer microseconds are better. In
the columns of ratios, `x2` means that the shim needs half of the other broker's time; below `x1`,
the other broker is faster. *In flight* is the number of requests that a client sends before it
waits.
"""
_COSTS = """\
Where the time of these requests goes, in microseconds per request. `read` and `write` are the
system calls, `handle` is the handler without `authorize`, `dispatch` is the rest of the dispatcher,
`client` is the client's processor time if it has one request in flight, and `rest` is the event
loop, the connection, waking, and colder caches than those of a loop over one stage.\
"""
_TRIED = """\
What was tried:

| attempt | rate |
|---|---|
| mypyc for 20 modules (`against/compiled.py`) | x1.01 with 64 in flight, x0.95 with one |
| uvloop, Python 3.13 | below 5 % |
| up to 15 records are checked one by one | Produce of 10: x1.1 |
| the broker polls 100 us after a response, not 50 | x1.1 with one in flight |
| DescribeAcls: resources from the store, without making ACLs | x1.11 |
| known decisions, lengths, frames and sessions in fewer steps | different requests: x1.05 to x1.1 |
| Fetch of 1 MiB in pieces of 2 MiB, not 512 KiB | x1.04 with 64 in flight, x0.6 with one |
| Fetch of 1 MiB in pieces of 256 KiB, of 128 KiB | x0.96, x0.8 |
| Fetch of 1 MiB with TCP_CORK | x1.0 |

In 6,000 requests to Produce, no garbage is collected, and one in ten has a page fault. Between the
other code of a request, a handler takes up to twice as long as in a loop of its own. So the number
of its bytecode instructions counts: a request has 2,000 to 2,500. The records of a long Fetch are
not copied in the process, only once by the kernel, which a real Kafka's sendfile avoids.

The first response comes 91 ms after the start of the process; the goal is 80 ms. Of this time, the
bare interpreter takes 53 %, libraries such as msgspec 11 %, and the shim's 167 modules 35 %: 0.2 ms
each. Garbage is not collected in this time, and handlers are imported when their API is called.\
"""


def machine_state(brokers: Sequence[Broker], rounds: int) -> str:
    """Return a sentence about the machine, its load, and the versions that are compared."""
    found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    model = found[1] if found else platform.machine()
    load = " ".join(f"{load:.1f}" for load in os.getloadavg())
    is_real_time = os.sched_getscheduler(0) == os.SCHED_FIFO
    versions = [f"{broker.name} {broker.version}" for broker in brokers if broker.version]
    today = dt.datetime.now(dt.UTC).date()
    return (
        f"Measured on {today} on {os.cpu_count()} cores ({model}), CPython"
        f" {platform.python_version()}, load {load} (1, 5 and 15 minutes)"
        f"{', with real-time priority' if is_real_time else ''}; medians of {rounds} rounds;"
        f" {', '.join(versions) or 'the shim alone'}."
    )


def publish(rows: Sequence[Row], state: str, costs: Sequence[Cost] = (), page: Path = PAGE) -> None:
    """Write the figures of a run, in place of those of the last one."""
    page.write_text(f"{_HEAD}\n{published(rows, state, costs)}\n")


def published(rows: Sequence[Row], state: str, costs: Sequence[Cost]) -> str:
    """Return the figures of a run as Markdown."""
    of_requests = [row for row in rows if row.mode != WHOLE]
    wholes = [row for row in rows if row.mode == WHOLE]
    parts = [state]
    for is_everyday, name in ((True, EVERYDAY), (False, "other requests")):
        chosen = [row for row in of_requests if row.is_everyday is is_everyday]
        for mode in dict.fromkeys(row.mode for row in chosen):
            parts += [
                f"Microseconds per request, {name}, {_in_words(mode)}:",
                _table("request", [row for row in chosen if row.mode == mode]),
            ]
    if wholes:
        parts += ["Milliseconds of actions of several connections:", _table("action", wholes, 1000)]
    parts += ["Geometric means of the ratios:", _means_table(means(rows))]
    goals = missed(rows)
    parts += [missed_goals_text(goals)]
    parts += [_TRIED] if goals else []
    parts += [_COSTS, _costs_table(costs)] if costs else []
    return "\n\n".join(parts)


def missed_goals_text(goals: Sequence[str]) -> str:
    """Return a list of the missed goals, or that there are none."""
    if not goals:
        return "All goals are met."
    return "\n".join(["Missed goals:", "", *(f"- {goal}" for goal in goals)])


def _in_words(mode: str) -> str:
    return f"with {mode.removeprefix('depth ')} in flight" if mode.startswith("depth") else mode


def _table(head: str, rows: Sequence[Row], unit_us: int = 1) -> str:
    names = list(rows[0].taken)
    others = [name for name in ("kfake", "real", "compiled") if name in names]
    cells = [head, *names, *(f"{other} / shim" for other in others)]
    lines = [f"| {' | '.join(cells)} |", "|---" * len(cells) + "|"]
    for row in rows:
        name = row.kind
        if row.mode != WHOLE:
            name += f", {'different' if row.different else 'repeated'}"
        figures = [
            f"{row.taken[name]['clock'] / unit_us:.{1 if unit_us == 1 else 2}f}" for name in names
        ]
        ratios = [f"x{row.ratio(other):.2f}" for other in others]
        lines.append(f"| {' | '.join([name, *figures, *ratios])} |")
    return "\n".join(lines)


def _costs_table(costs: Sequence[Cost]) -> str:
    cells = ["request", *costs[0].stages, "shim", "kfake"]
    lines = [f"| {' | '.join(cells)} |", "|---" * len(cells) + "|"]
    for row, stages in costs:
        figures = [*stages.values(), *(row.taken[name]["clock"] for name in ("shim", "kfake"))]
        lines.append(f"| {name_of(row)} | {' | '.join(f'{us:.1f}' for us in figures)} |")
    return "\n".join(lines)


def _means_table(found: Mapping[str, float]) -> str:
    """Return the means of elapsed and of processor time."""
    lines = ["| broker | requests | elapsed time | processor time |", "|---|---|---|---|"]
    for key, mean in found.items():
        name, _, part = key.rpartition(", ")
        other, _, requests = name.partition(", ")
        if part == "clock":
            lines.append(
                f"| {other} | {requests} | x{mean:.2f} | x{found[f'{name}, processor']:.2f} |"
            )
    return "\n".join(lines)
