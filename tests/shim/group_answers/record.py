"""Record a real broker: `python -m tests.shim.group_answers.record RELEASE [SCENARIO ...]`.

RELEASE is the full one (`4.3.1`); a real broker is started (Java 17 and Maven), and one more for
each of `recording.SETTINGS`. Scenarios that are named replace those in the recording.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence

from tests.oracle.real_kafka import RealKafka, numbers
from tests.shim.group_answers import recording
from tests.shim.group_answers.peers import RealBroker

ASSIGNING_KINDS = ("consumer", "share", "streams")


def main() -> None:
    release, *names = sys.argv[1:]
    answers = recording.load(release) if names and release in recording.releases() else {}
    for settings, part in _brokers(names or list(recording.SCENARIOS)):
        with RealKafka(release, "none", {**_as_shipped(release), **settings}) as kafka:
            peer = RealBroker(release, kafka.plain_port)
            for name in part:
                answers[name] = recording.played(name, peer)
                print(f"{name}: {len(answers[name])} answers")  # noqa: T201 - for people
    known = [name for name in recording.SCENARIOS if name in answers]
    recording.save(release, {name: answers[name] for name in known})


def _brokers(names: Sequence[str]) -> Iterator[tuple[Mapping[str, str], list[str]]]:
    """What each broker is told, and the scenarios that it plays."""
    plain = [name for name in names if name not in recording.SETTINGS]
    if plain:
        yield {}, plain
    for name in names:
        if name in recording.SETTINGS:
            yield recording.SETTINGS[name], [name]


def _as_shipped(release: str) -> dict[str, str]:
    """Delays as they are by default, where brokers of tests have none; and a quick cleaner."""
    settings = {"log.cleaner.backoff.ms": "200"}
    if numbers(release) >= (4, 2):
        settings["group.streams.initial.rebalance.delay.ms"] = "3000"
    if numbers(release) >= (4, 3):
        settings |= {f"group.{kind}.assignment.interval.ms": "1000" for kind in ASSIGNING_KINDS}
    return settings


if __name__ == "__main__":
    main()
