"""Play scenarios on a real broker and keep what it answers."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from tests.oracle.real_kafka import RealKafka
from tests.recordings.store import Recordings, Steps

NO_SETTINGS: Mapping[str, str] = MappingProxyType({})


class Kind(NamedTuple):
    """Scenarios of one kind: where their recordings are, and how a broker is started and asked.

    `settings` are those of scenarios that need a broker of their own.
    """

    recordings: Recordings
    scenarios: Collection[str]
    broker: Callable[[str, Mapping[str, str]], RealKafka]
    connect: Callable[[RealKafka], Any]
    play: Callable[[str, Any], Steps]
    settings: Mapping[str, Mapping[str, str]] = MappingProxyType({})


def record(kind: Kind, release: str, names: Sequence[str] = ()) -> Iterator[str]:
    """Record a release and return a line a scenario; `names` replace those in the recording."""
    answers = kind.recordings.load(release) if names else {}
    order = dict.fromkeys([*answers, *kind.scenarios])  # so that what is equal stays where it is
    for settings, part in brokers(kind, names or list(kind.scenarios)):
        with kind.broker(release, settings) as kafka:
            peer = kind.connect(kafka)
            for name in part:
                answers[name] = kind.play(name, peer)
                yield f"{name}: {len(answers[name])} answers"
    kept = [name for name in order if name in answers and name in kind.scenarios]
    kind.recordings.save(release, {name: answers[name] for name in kept})


def brokers(kind: Kind, names: Sequence[str]) -> Iterator[tuple[Mapping[str, str], list[str]]]:
    """Return the settings of each broker to start, and the scenarios that it plays."""
    if plain := [name for name in names if name not in kind.settings]:
        yield NO_SETTINGS, plain
    for name in names:
        if name in kind.settings:
            yield kind.settings[name], [name]
