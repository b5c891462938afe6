"""A reset cluster has the same values as a new one.

Recorded scenarios are played before the reset. All objects of the cluster are compared except its
clock, which continues.
"""

import enum
import random
from collections.abc import Collection, Mapping
from typing import Any

import pytest

from kafka_shim.shim.state.cluster import Cluster
from tests.recordings.groups.recording import KIND as GROUPS
from tests.recordings.peers.in_process import InProcess
from tests.recordings.records.recording import KIND as RECORDS

FEW = 20
GOES_ON = {"clock", "_clock", "state_version", "counters", "_next_check_ms"}
PLAIN = (int, float, str, bool, type(None), enum.Enum)


def values(of: Any) -> dict[str, Any]:
    """Return all plain values and the sizes of collections by their path."""
    found: dict[str, Any] = {}
    seen: set[int] = set()
    left = [("", of)]
    while left:
        path, value = left.pop()
        if isinstance(value, PLAIN):
            found[path] = value
        elif id(value) not in seen:
            seen.add(id(value))
            parts = _parts(value)
            found[f"{path}#"] = len(parts)
            left += [(f"{path}.{name}", part) for name, part in parts.items()]
    return found


def _parts(value: Any) -> dict[Any, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Collection):
        return {} if isinstance(value, bytes) else dict(enumerate(value))
    if not type(value).__module__.startswith("kafka_shim"):
        return {}
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    names = dict.fromkeys([*getattr(value, "__dict__", ()), *slots])
    return {name: getattr(value, name, None) for name in names if name not in GOES_ON}


def reset(peer: InProcess) -> dict[str, Any]:
    cluster: Cluster = peer.stage.cluster
    for connection in list(peer._sessions):
        peer.hang_up(connection)
    for group in cluster.groups:
        group.close()
    cluster.reset_to_initial_state()
    return values(cluster)


@pytest.mark.parametrize("release", ["0.11.0.3", "2.8.2", "4.4.0"])
def test_a_reset_cluster_has_the_values_of_a_new_one(release: str) -> None:
    peer = InProcess(release, "authorizer")
    new = reset(peer)
    assert len(new) > 400
    for kind in (GROUPS, RECORDS):
        names = [name for name in kind.recordings.names(release) if name in kind.scenarios(release)]
        usual = [name for name in names if name not in kind.own_settings]
        for name in random.Random(release).sample(usual, FEW):
            kind.play(name, peer)
    assert len(values(peer.stage.cluster)) > 2 * len(new)
    again = reset(peer)
    assert {path for path in new.keys() | again.keys() if new.get(path) != again.get(path)} == set()
