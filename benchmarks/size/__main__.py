"""The cost of large numbers of ACLs, topics, groups, connections and records for a broker.

    python -m benchmarks.size [--only topics,records] [--json] [--check]

Times are processor time of the broker. All requests differ, so no cached response is used.
`python -m benchmarks.decide` measures a decision with many ACLs.
"""

import sys

from benchmarks.command import finish, parse_arguments
from benchmarks.size.parts import acls, connections, groups, topics
from benchmarks.size.records import records

PARTS = {
    "acls": acls,
    "topics": topics,
    "groups": groups,
    "connections": connections,
    "records": records,
}
FLAT_MAX = 1.5
OVERHEAD_PERCENT_MAX = 15.0
CONNECTION_BYTES_MAX = 16 * 1024

GOALS = {
    "DescribeAcls, many / few": FLAT_MAX,
    "Metadata of a topic, many / few": FLAT_MAX,
    "Heartbeat, many / few": FLAT_MAX,
    "a request, beside / alone": FLAT_MAX,
    "memory of a connection, bytes": CONNECTION_BYTES_MAX,
    "overhead of all, %": OVERHEAD_PERCENT_MAX,
}


def missed(found: dict[str, dict[str, float]]) -> list[str]:
    return [
        f"{part}: {name} is {value:.2f}, goal {GOALS[name]:g}"
        for part, figures in found.items()
        for name, value in figures.items()
        if name in GOALS and value > GOALS[name]
    ]


def main() -> int:
    options = parse_arguments(
        __doc__,
        acls=(1_000_000, "how many ACLs"),
        topics=(100_000, "how many topics"),
        groups=(10_000, "how many groups"),
        connections=(10_000, "how many connections"),
        records=(4096, "MiB of records"),
        only=(",".join(PARTS), "which parts"),
    )
    found = {part: PARTS[part](getattr(options, part)) for part in options.only.split(",")}
    lines = ["| | measured | goal |", "|---|---|---|"]
    for figures in found.values():
        for name, value in figures.items():
            goal = f"at most {GOALS[name]:g}" if name in GOALS else ""
            lines.append(f"| {name} | {value:,.{0 if value >= 100 else 2}f} | {goal} |")
    return finish(options, found, "\n".join(lines), missed(found))


if __name__ == "__main__":
    sys.exit(main())
