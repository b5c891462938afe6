"""Replicas on a broker with several log directories (JBOD, KIP-113)."""

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.records.play import Play

DIRECTORIES = ("logs-a", "logs-b")
MOVED_MS = 3_000
"""Time after which a broker has moved empty replicas."""
SPREAD, CHOSEN = 6, 1


def several_directories(play: Play) -> None:
    """New replicas are spread, and move to the directory that a client names."""
    if not play.has(ApiKey.DESCRIBE_LOG_DIRS):
        return
    topic = play.topic(partitions=SPREAD)
    directories = _directories(play)
    assert [len(names) for _, names in sorted(directories.items())] == [3, 3]
    _described(play, "spread", directories, counts_only=True)
    first, second = sorted(directories)
    everywhere = {topic: [*range(SPREAD), 9], play.unknown(): [0]}
    _move(play, "to the second", second, everywhere)
    _move(play, "to none", "/nowhere", {topic: [0]})
    play.peer.pause(MOVED_MS)
    _described(play, "moved", _directories(play))
    _move(play, "one to the first", first, {topic: [2]})
    play.peer.pause(MOVED_MS)
    _described(play, "moved back", _directories(play))
    _move(play, "before it exists", second, {play.text("b"): [0]})
    play.topic("b", CHOSEN)
    _described(play, "chosen before", _directories(play))
    play.topic("c", 3)
    _described(play, "fewest", _directories(play))


def _directories(play: Play) -> dict[str, list[str]]:
    """Return the scenario's replicas in each directory, by its path."""
    version = play.newest(ApiKey.DESCRIBE_LOG_DIRS, 1)
    response = play.ask(ApiKey.DESCRIBE_LOG_DIRS, version, {"topics": None})
    return {
        row.log_dir: sorted(
            f"{topic.name}-{partition.partition_index}"
            for topic in row.topics
            for partition in topic.partitions
            if topic.name.startswith(play.name)
        )
        for row in response.results
    }


def _described(
    play: Play, label: str, directories: Mapping[str, list[str]], *, counts_only: bool = False
) -> None:
    found: dict[str, Any] = {
        path.rpartition("/")[2]: len(names) if counts_only else names
        for path, names in sorted(directories.items())
    }
    play.steps.append((label, found))


def _move(play: Play, label: str, path: str, partitions: Mapping[str, Sequence[int]]) -> None:
    topics = [{"name": name, "partitions": indexes} for name, indexes in partitions.items()]
    version = play.newest(ApiKey.ALTER_REPLICA_LOG_DIRS)
    request = {"dirs": [{"path": path, "topics": topics}]}
    response = play.ask(ApiKey.ALTER_REPLICA_LOG_DIRS, version, request)
    for row in response.results:
        row.partitions.sort(key=lambda partition: partition.partition_index)
    play.keep(label, ApiKey.ALTER_REPLICA_LOG_DIRS, version, response)


SCENARIOS = (several_directories,)
OWN_SETTINGS = {"disk-several_directories": {"log.dirs": ",".join(DIRECTORIES)}}
