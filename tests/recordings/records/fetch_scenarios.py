"""Fetch in every version: partitions, limits, sessions, leader epochs, followers."""

from typing import Any

import zstandard

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.delete_topics import DeleteTopicsRequest
from kafka_shim.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    ForgottenTopic,
    ReplicaState,
)
from kafka_shim.shim.state.topics import NO_ID
from tests.recordings.records.batches import ZSTD, batch
from tests.recordings.records.play import Play

LAST_WITH_NAMES = 12
ZSTD_SINCE = 10


def filled(play: Play, name: str = "a", partitions: int = 1, batches: int = 4) -> str:
    """Create a topic with some batches of two records in each partition."""
    topic = play.topic(name, partitions)
    for index in range(partitions):
        for at in range(batches):
            request = play.produce_request([(topic, [(index, batch([b"%d" % at, b"x"]))])])
            play.settled(ApiKey.PRODUCE, play.newest(ApiKey.PRODUCE), request)
    return topic


def offsets(play: Play) -> None:
    topic = filled(play)
    for version in play.versions(ApiKey.FETCH):
        for offset in (0, 3, 7, 8, 9, -1, 1 << 60):
            play.fetch(f"from {offset}, {version}", topic, offset, version=version)


def places(play: Play) -> None:
    topic = filled(play)
    for version in play.versions(ApiKey.FETCH):
        play.fetch(f"no topic {version}", play.unknown(), version=version)
        play.fetch(f"no partition {version}", topic, version=version, index=3)
        play.fetch(f"partition -1 {version}", topic, version=version, index=-1)
    wanted = [
        (topic, [part(0), part(5)]),
        (play.unknown(), [part(0), part(1)]),
        (topic, [part(0, offset=4), part(0, offset=6)]),
    ]
    for version in play.versions(ApiKey.FETCH):
        play.call(f"mixed {version}", ApiKey.FETCH, version, play.fetch_request(wanted))
        nothing = play.fetch_request([])
        play.call(f"nothing {version}", ApiKey.FETCH, version, nothing)
        play.call(
            f"no partitions {version}", ApiKey.FETCH, version, play.fetch_request([(topic, [])])
        )


def part(index: int, offset: int = 0, bytes_max: int = 1 << 20) -> FetchPartition:
    return FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=bytes_max)


def sizes(play: Play) -> None:
    """Limits for a partition and for the response; each batch of two records has 79 bytes."""
    topic = filled(play, partitions=3)
    for version in play.versions(ApiKey.FETCH):
        if version < 4:
            continue
        for limit in (0, 1, 78, 79, 158, 200):
            label = f"{limit} bytes a partition, {version}"
            wanted = [(topic, [part(index, bytes_max=limit) for index in range(3)])]
            play.call(label, ApiKey.FETCH, version, play.fetch_request(wanted))
            request = play.fetch_request([(topic, [part(index) for index in range(3)])])
            request.max_bytes = limit
            play.call(f"{limit} bytes in all, {version}", ApiKey.FETCH, version, request)
    wanted = [(topic, [part(0, 8), part(1, bytes_max=1), part(2)])]
    request = play.fetch_request(wanted)
    request.max_bytes = 100
    version = play.newest(ApiKey.FETCH)
    play.call("first empty, second too small", ApiKey.FETCH, version, request)


def cuts(play: Play) -> None:
    """Limits within a batch: the number of bytes of each partition."""
    topic = filled(play, partitions=2)
    for version in play.versions(ApiKey.FETCH):
        if version < 4:  # arbitrary bytes may follow converted records
            continue
        for limit, in_all in ((50, 1 << 20), (100, 1 << 20), (200, 1 << 20), (100, 120), (500, 90)):
            wanted = [(topic, [part(index, bytes_max=limit) for index in range(2)])]
            request = play.fetch_request(wanted)
            request.max_bytes = in_all
            response = play.settled(ApiKey.FETCH, version, request)
            sizes = [len(row.records or b"") for row in response.responses[0].partitions]
            play.steps.append((f"{limit} of {in_all} bytes, {version}", sizes))


def zstd(play: Play) -> None:
    """Fetch zstd in old versions, compressed by the producer or by the topic."""
    if play.newest(ApiKey.FETCH) < ZSTD_SINCE:
        return
    for kind in ("producer", "zstd"):
        topic = play.topic(kind, compression_type=kind)
        records = batch([b"x" * 100], attributes=ZSTD, packs=zstandard.compress)
        play.produce(f"to {kind}", topic, records, version=7)
        for version in play.versions(ApiKey.FETCH):
            play.fetch(f"from {kind}, {version}", topic, version=version)


def waits(play: Play) -> None:
    """Requests that get a response at once, and after max_wait_ms."""
    topic = filled(play)
    version = play.newest(ApiKey.FETCH)
    for label, offset, min_bytes in (
        ("enough", 0, 1),
        ("not enough", 0, 100_000),
        ("nothing there", 8, 1),
        ("nothing wanted", 8, 0),
        ("out of range", 9, 1),
    ):
        request = play.fetch_request([(topic, [part(0, offset)])])
        request.max_wait_ms, request.min_bytes = 300, min_bytes
        play.call(label, ApiKey.FETCH, version, request)


def leader_epochs(play: Play) -> None:
    topic = filled(play)
    for version in play.versions(ApiKey.FETCH):
        if version >= 9:
            for epoch in (-1, 0, 1, -2):
                play.fetch(f"epoch {epoch}, {version}", topic, version=version, epoch=epoch)
        if version >= 12:
            for epoch, offset in ((0, 2), (1, 2), (0, 8), (-1, 2), (0, 9)):
                wanted = part(0, offset)
                wanted.last_fetched_epoch = epoch
                request = play.fetch_request([(topic, [wanted])])
                play.call(f"fetched {epoch} to {offset}, {version}", ApiKey.FETCH, version, request)


def isolation(play: Play) -> None:
    topic = filled(play)
    for version in play.versions(ApiKey.FETCH):
        if version >= 4:
            for level in (0, 1):
                play.fetch(f"isolation {level}, {version}", topic, version=version, isolation=level)
    play.fetch("isolation 2", topic, isolation=2)
    if play.newest(ApiKey.FETCH) > LAST_WITH_NAMES:
        play.fetch("isolation 2, by name", topic, version=LAST_WITH_NAMES, isolation=2)


def followers(play: Play) -> None:
    """Replica ids: the broker's own, unknown ones, -1 of consumers and -2 of debuggers."""
    topic = filled(play)
    for version in play.versions(ApiKey.FETCH):
        for replica in (1, 7, -2, -3):
            wanted = [(topic, [part(0)]), (play.unknown(), [part(0)])]
            request = play.fetch_request(wanted)
            request.replica_id = replica
            request.replica_state = ReplicaState(replica_id=replica)
            play.call(f"replica {replica}, {version}", ApiKey.FETCH, version, request)


def waiting_followers(play: Play) -> None:
    """A broker without a replica asks for as many bytes as there are, with and without a wait."""
    topic = filled(play)
    for version in (0, 4, play.newest(ApiKey.FETCH)):
        for wait_ms, min_bytes in ((0, 1), (50, 0), (50, 1), (50, 1_000_000)):
            request = play.fetch_request([(topic, [part(0)])])
            request.replica_id, request.replica_state = 7, ReplicaState(replica_id=7)
            request.max_wait_ms, request.min_bytes = wait_ms, min_bytes
            play.call(f"{min_bytes} in {wait_ms} ms, {version}", ApiKey.FETCH, version, request)


def follower_epochs(play: Play) -> None:
    """Brokers that are no replicas send leader epochs."""
    topic = filled(play)
    for version in (9, play.newest(ApiKey.FETCH)):
        for epoch in (-1, 0, 1):
            wanted = part(0)
            wanted.current_leader_epoch = epoch
            request = play.fetch_request([(topic, [wanted])])
            request.replica_id, request.replica_state = 7, ReplicaState(replica_id=7)
            play.call(f"epoch {epoch}, {version}", ApiKey.FETCH, version, request)


class Session:
    """A fetch session from the client's side."""

    def __init__(self, play: Play, version: int) -> None:
        self.play = play
        self.version = version
        self.session_id = 0
        self.epoch = 0

    def ask(
        self,
        label: str,
        wanted: list[tuple[str, list[FetchPartition]]],
        forgotten: list[tuple[str, list[int]]] | None = None,
        **fields: Any,
    ) -> None:
        request = self.play.fetch_request(wanted)
        request.session_id, request.session_epoch = self.session_id, self.epoch
        request.forgotten_topics_data = [
            ForgottenTopic(topic=name, topic_id=self.play.topic_ids[name], partitions=partitions)
            for name, partitions in forgotten or []
        ]
        for name, value in fields.items():
            setattr(request, name, value)
        response = self.play.call(f"{label}, {self.version}", ApiKey.FETCH, self.version, request)
        if response.session_id and not response.error_code:
            self.session_id, self.epoch = response.session_id, request.session_epoch + 1


def sessions(play: Play) -> None:
    for version in play.versions(ApiKey.FETCH):
        if version >= 7 and version in {7, 12, 13, play.newest(ApiKey.FETCH)}:
            _session(play, version)


def _session(play: Play, version: int) -> None:
    topic = filled(play, f"a{version}", partitions=3, batches=1)
    other = filled(play, f"b{version}", batches=1)
    session = Session(play, version)
    session.ask("full", [(topic, [part(0), part(1)])])
    session.ask("nothing new but records", [])
    session.ask("read on", [(topic, [part(0, 2), part(1, 2)])])
    session.ask("nothing new", [])
    play.produce(f"something new, {version}", topic, batch([b"new"]), index=1)
    session.ask("one has news", [])
    session.ask("another topic", [(other, [part(0)])])
    session.ask("forget it", [], [(other, [0])])
    session.ask("forget what is unknown", [], [(other, [0]), (topic, [2])])
    session.ask("unknown topic", [(play.unknown(), [part(0)])])
    session.ask("the unknown one is told again", [])
    session.ask("out of range", [(topic, [part(0, 99)])])
    session.ask("told again", [])
    session.ask("no such partition", [(topic, [part(8)])])
    session.ask("wrong epoch", [], session_epoch=session.epoch + 1)
    session.ask("old epoch", [], session_epoch=session.epoch - 1)
    session.ask("wrong session", [], session_id=session.session_id + 1)
    session.ask("no session", [], session_id=0)
    session.ask("end it", [(topic, [part(0, 2)])], session_epoch=-1)
    session.ask("it is gone", [])
    session = Session(play, version)
    session.ask("begin empty", [])
    session.ask("go on empty", [])
    session = Session(play, version)
    session.ask("begin again", [(topic, [part(0, 2), part(2)])])
    first = session.session_id
    session.ask("begin anew in its place", [(topic, [part(2)])], session_epoch=0)
    session.ask("the old one", [], session_id=first)
    session.ask("forget all", [], [(topic, [0, 1, 2])])
    session.ask("nothing is left", [])
    session = Session(play, version)
    session.ask("begin with what fails", [(topic, [part(0, 99)]), (play.unknown(), [part(0)])])
    session.ask("what fails again", [])


def session_changes_form(play: Play) -> None:
    """A session begun with topic names continues with topic ids, and the other way round."""
    if play.newest(ApiKey.FETCH) < 13:
        return
    topic = filled(play, batches=1)
    for first, second in ((12, 13), (13, 12)):
        session = Session(play, first)
        session.ask("begin", [(topic, [part(0)])])
        session.version = second
        session.ask("go on", [])


def session_of_a_deleted_topic(play: Play) -> None:
    """A session continues after its topic was deleted, and after it was created again."""
    version = play.newest(ApiKey.FETCH)
    if version < 13:
        return
    topic = filled(play, batches=1)
    session = Session(play, version)
    session.ask("begin", [(topic, [part(0)])])
    session.ask("go on", [])
    request = DeleteTopicsRequest(topic_names=[topic], timeout_ms=5000)
    play.call("deleted", ApiKey.DELETE_TOPICS, play.newest(ApiKey.DELETE_TOPICS, 5), request)
    play.peer.pause(1500)
    session.ask("it is gone", [])
    session.ask("still gone", [])
    play.topic_ids[f"{topic}-deleted"] = play.topic_ids[topic]
    filled(play, batches=1)
    session.ask("another of its name", [])
    session.ask("still another", [])


def null_topic_ids(play: Play) -> None:
    """Fetch partitions of the null topic id, alone and next to others, in sessions and without."""
    for version in play.versions(ApiKey.FETCH):
        if version > LAST_WITH_NAMES and version in {13, 17, play.newest(ApiKey.FETCH)}:
            _null_topic_id(play, version)


def _null_topic_id(play: Play, version: int) -> None:
    topic = filled(play, f"n{version}", batches=1)
    null = play.text("null")
    play.topic_ids[null] = NO_ID
    cases: tuple[tuple[str, list[tuple[str, list[FetchPartition]]]], ...] = (
        ("one", [(null, [part(0)])]),
        ("two", [(null, [part(0), part(1)])]),
        ("one in two topics", [(null, [part(0)]), (null, [part(1)])]),
        ("one twice", [(null, [part(0), part(0)])]),
        ("no partitions", [(null, [])]),
        ("before a topic", [(null, [part(0)]), (topic, [part(0)])]),
        ("after a topic", [(topic, [part(0)]), (null, [part(0)])]),
        ("before an unknown one", [(null, [part(0)]), (play.unknown(), [part(0)])]),
        ("after an unknown one", [(play.unknown(), [part(0)]), (null, [part(0)])]),
        ("before a missing partition", [(null, [part(0)]), (topic, [part(5)])]),
    )
    for label, wanted in cases:
        Session(play, version).ask(f"{label} without a session", wanted, session_epoch=-1)
        session = Session(play, version)
        session.ask(f"{label} begins a session", wanted)
        session.ask(f"{label} in the next fetch", [])
        session = Session(play, version)
        session.ask(f"{label}: a session", [(topic, [part(0, 2)])])
        session.ask(f"{label} added", wanted)
        session.ask(f"{label} after it was added", [])
    session = Session(play, version)
    session.ask("begin without it", [(topic, [part(0, 2)])])
    session.ask("forget the null topic id", [], [(null, [0])])
    session.ask("go on", [])


def deleted_while_waiting(play: Play) -> None:
    """Requests that wait at the end of a topic that is deleted."""
    for version in play.versions(ApiKey.FETCH):
        topic = play.topic(f"v{version}")
        request = play.fetch_request([(topic, [part(0)])])
        request.max_wait_ms, request.min_bytes = 20_000, 1
        play.send(ApiKey.FETCH, version, request, "waiting")
        play.peer.pause(300)
        deletion = DeleteTopicsRequest(topic_names=[topic], timeout_ms=5000)
        newest = play.newest(ApiKey.DELETE_TOPICS, 5)
        play.call(f"deleted {version}", ApiKey.DELETE_TOPICS, newest, deletion)
        response = play.peer.receive("waiting", 15_000)
        play.keep(f"fetched {version}", ApiKey.FETCH, version, response)


def closed_sessions(play: Play) -> None:
    """Requests with invalid session fields."""
    topic = filled(play, batches=1)
    version = play.newest(ApiKey.FETCH)
    if version < 7:
        return
    for session_id, epoch in ((0, 1), (0, -1), (5, -1), (5, 0), (0, -2), (5, 5), (-1, 1)):
        request: FetchRequest = play.fetch_request([(topic, [part(0)])])
        request.session_id, request.session_epoch = session_id, epoch
        play.call(f"session {session_id}, epoch {epoch}", ApiKey.FETCH, version, request)


SCENARIOS = (
    offsets,
    places,
    sizes,
    cuts,
    zstd,
    waits,
    leader_epochs,
    isolation,
    followers,
    waiting_followers,
    follower_epochs,
    sessions,
    session_changes_form,
    session_of_a_deleted_topic,
    null_topic_ids,
    deleted_while_waiting,
    closed_sessions,
)
