"""Plays scenarios on a real broker and stores the responses."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any, NamedTuple

from tests.oracle.real_kafka import RealKafka
from tests.recordings.peers.connecting import real
from tests.recordings.peers.in_process import InProcess
from tests.recordings.store import Recordings

NO_SETTINGS: Mapping[str, str] = MappingProxyType({})


def _none(release: str) -> Mapping[str, str]:
    return NO_SETTINGS


class Kind(NamedTuple):
    """A kind of scenarios: its recordings, and how to play them.

    `scenarios` returns the names of the scenarios for a release, and `play` the recording of one of
    them. `settings` returns the broker settings for a release; scenarios in `own_settings` need
    their own broker with these settings. `mode` is one of RealKafka's MODES. `start` returns a real
    broker, and `connect` makes the argument of `play` from it; `shim` makes it from the shim.
    """

    recordings: Recordings
    scenarios: Callable[[str], Collection[str]]
    play: Callable[[str, Any], Any]
    settings: Callable[[str], Mapping[str, str]] = _none
    own_settings: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    mode: str = "none"
    start: Callable[[str, str, Mapping[str, str]], Any] = RealKafka
    connect: Callable[[Any], AbstractContextManager[Any]] = real
    shim: Callable[[str, str, Mapping[str, str]], Any] = InProcess

    def settings_of(self, release: str, scenario: str) -> dict[str, str]:
        """Return the settings of the broker that plays a scenario."""
        return {**self.settings(release), **self.own_settings.get(scenario, {})}


def record(kind: Kind, release: str, names: Sequence[str] = ()) -> Iterator[str]:
    """Record a release; return a line per scenario. `names` replaces only those scenarios."""
    responses: dict[str, Any] = dict(kind.recordings.written(release)) if names else {}
    known = kind.scenarios(release)
    order = dict.fromkeys([*responses, *known])  # keeps the order of scenarios
    for settings, part in brokers(kind, release, names or list(known)):
        with kind.start(release, kind.mode, settings) as kafka, kind.connect(kafka) as peer:
            for name in part:
                responses[name] = kind.play(name, peer)
                yield f"{name} recorded"
    kept = [name for name in order if name in responses and name in known]
    kind.recordings.save(release, {name: responses[name] for name in kept})


def brokers(
    kind: Kind, release: str, names: Sequence[str]
) -> Iterator[tuple[Mapping[str, str], list[str]]]:
    """Yield the settings of each broker to start, and the scenarios to play on it."""
    if plain := [name for name in names if name not in kind.own_settings]:
        yield kind.settings(release), plain
    for name in names:
        if name in kind.own_settings:
            yield kind.settings_of(release, name), [name]
