"""Records of share coordinators in `__share_group_state` (KIP-932): snapshots and updates."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from tests.recordings.coordinator_log import CoordinatorLog
from tests.recordings.groups.modern_play import ModernPlay
from tests.recordings.groups.share_play import (
    ACCEPT,
    REJECT,
    RELEASE,
    SETTLED_MS,
    A,
    Sharer,
    earliest,
    kept_topics,
    produce,
    serves,
)
from tests.recordings.peers.peer import ask_root

TOPIC = "__share_group_state"
MESSAGES = (("ShareSnapshotKey", "ShareSnapshotValue"), ("ShareUpdateKey", "ShareUpdateValue"))
SHARE_KEY = 2
SNAPSHOTS_MS = 4_000
"""Time in which a broker writes snapshots of unused state, and deletes older records."""


class _Log:
    def __init__(self, play: ModernPlay) -> None:
        key = f"{play.name}:AAAAAAAAAAAAAAAAAAAAAQ:0"
        request = FindCoordinatorRequest(key=key, key_type=SHARE_KEY, coordinator_keys=[key])
        ask_root(play.peer, ApiKey.FIND_COORDINATOR, request)
        self._play = play
        self._log = CoordinatorLog(play, TOPIC, MESSAGES.__getitem__)

    def look(self, label: str) -> None:
        """Record the new records; a coordinator collects records for a few milliseconds."""
        self._play.peer.pause(SETTLED_MS)
        self._play.steps.append((f"{label}: written", self._log.new()))

    def starts(self, label: str) -> None:
        """Record the first offset of each log with deleted records."""
        self._play.steps.append((f"{label}: begins", self._log.starts()))


def _serves(play: ModernPlay) -> bool:
    """Return whether the records have the current format, which is used since 4.1."""
    return serves(play) and play.has(ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS)


class _Coordinator:
    """Sends requests about one share partition."""

    def __init__(self, play: ModernPlay, group: str = "-g", topic: str = "") -> None:
        self.play = play
        self._topic_id = play.topic_ids[topic or play.topic("t", partitions=1)[0]]
        self._group = play.text(group)

    def ask(self, label: str, api: ApiKey, **row: Any) -> None:
        topics = [{"topic_id": self._topic_id, "partitions": [{"partition": 0} | row]}]
        self.play.call(label, api, 99, {"group_id": self._group, "topics": topics})

    def begin(self, label: str, epoch: int, start: int) -> None:
        api = ApiKey.INITIALIZE_SHARE_GROUP_STATE
        self.ask(label, api, state_epoch=epoch, start_offset=start)

    def write(self, label: str, *rows: tuple[int, int, int, int], **more: Any) -> None:
        names = ("first_offset", "last_offset", "delivery_state", "delivery_count")
        batches = [dict(zip(names, row, strict=True)) for row in rows]
        row = {"state_epoch": 3, "leader_epoch": 0, "start_offset": -1, "state_batches": batches}
        if self.play.versions(ApiKey.WRITE_SHARE_GROUP_STATE)[-1] > 0:
            row["delivery_complete_count"] = len(batches)
        self.ask(label, ApiKey.WRITE_SHARE_GROUP_STATE, **(row | more))

    def read(self, label: str, epoch: int) -> None:
        self.ask(label, ApiKey.READ_SHARE_GROUP_STATE, leader_epoch=epoch)


def told(play: ModernPlay) -> None:
    """The requests of brokers to a share coordinator."""
    if not _serves(play):
        return
    log = _Log(play)
    coordinator = _Coordinator(play)
    coordinator.begin("begun", 3, 1)
    log.look("begun")
    coordinator.begin("begun, older", 2, 1)
    coordinator.write("not begun, other group", (1, 1, 2, 1), state_epoch=1)
    log.look("refused")
    coordinator.write("some", (1, 1, 2, 1), (2, 3, 0, 2), (4, 4, 4, 5), (6, 6, 0, 1))
    log.look("some")
    coordinator.write("more", (2, 3, 2, 2), start_offset=2)
    log.look("more")
    coordinator.write("nothing")
    log.look("nothing")
    coordinator.write("start alone", start_offset=4)
    log.look("start alone")
    coordinator.write("overlapping", (10, 10, 2, 1), (11, 12, 2, 1), (1, 5, 2, 1), (12, 13, 0, 2))
    log.look("overlapping")
    coordinator.write("by a newer leader", (8, 9, 0, 1), leader_epoch=4)
    log.look("by a newer leader")
    coordinator.write("by the old one", (8, 9, 2, 1), leader_epoch=2)
    coordinator.read("read by the same", 4)
    log.look("read by the same")
    coordinator.read("read by a newer", 7)
    log.look("read by a newer")
    coordinator.begin("begun anew", 5, 0)
    log.look("begun anew")
    coordinator.ask("deleted", ApiKey.DELETE_SHARE_GROUP_STATE)
    log.look("deleted")
    coordinator.ask("deleted again", ApiKey.DELETE_SHARE_GROUP_STATE)
    log.look("deleted again")
    coordinator.begin("begun after all", 0, -1)
    log.look("begun after all")


def many(play: ModernPlay) -> None:
    """A snapshot follows a number of updates."""
    if not _serves(play):
        return
    log = _Log(play)
    coordinator = _Coordinator(play)
    coordinator.begin("begun", 3, 0)
    for at in range(8):
        coordinator.write(f"write {at}", (at, at, 2, 1))
    log.look("eight")
    coordinator.read("read by a newer", 2)
    log.look("read")
    coordinator.write("one more", (20, 20, 2, 1), leader_epoch=2)
    log.look("one more")


def used(play: ModernPlay) -> None:
    """The records of a group that consumes, and whose offsets are altered and deleted."""
    if not _serves(play):
        return
    log = _Log(play)
    (topic,) = kept_topics(play, "-t", partitions=1)
    produce(play, topic, 4, 2)
    group = earliest(play)
    sharer = Sharer(play, group).join(topic)
    log.look("joined")
    at = (topic, 0)
    sharer.fetch("all", at)
    log.look("fetched")
    sharer.acknowledge("accepted", {at: [(0, 1, [ACCEPT])]})
    log.look("accepted")
    sharer.acknowledge("in the middle", {at: [(3, 3, [REJECT]), (4, 4, [RELEASE])]})
    log.look("in the middle")
    sharer.acknowledge("the end", {at: [(2, 2, [ACCEPT])]}, share_session_epoch=-1)
    log.look("session is over")
    play.share("leaves", group, A, -1, None)
    play.peer.hang_up(sharer.connection)
    log.look("left")
    rows = [{"topic_name": topic, "partitions": [{"partition_index": 0, "start_offset": 1}]}]
    request: dict[str, Any] = {"group_id": group, "topics": rows}
    play.call("altered", ApiKey.ALTER_SHARE_GROUP_OFFSETS, 0, request)
    log.look("altered")
    request = {"group_id": group, "topics": [{"topic_name": topic}]}
    play.call("offsets deleted", ApiKey.DELETE_SHARE_GROUP_OFFSETS, 0, request)
    log.look("offsets deleted")
    again = Sharer(play, group).join(topic)
    again.fetch("from the start", at)
    again.acknowledge("accepted again", {at: [(0, 0, [ACCEPT])]}, share_session_epoch=-1)
    log.look("again")
    play.share("leaves again", group, A, -1, None)
    play.peer.hang_up(again.connection)
    play.call("group deleted", ApiKey.DELETE_GROUPS, 2, {"groups_names": [group]})
    log.look("group deleted")


def idle(play: ModernPlay) -> None:
    """State without recent updates gets a snapshot, after which older records may be deleted."""
    if not _serves(play):
        return
    log = _Log(play)
    coordinator, other = _Coordinator(play), _Coordinator(play, "-h")

    def wait(label: str) -> None:
        play.peer.pause(SNAPSHOTS_MS)
        log.look(label)
        log.starts(label)

    coordinator.begin("begun", 3, 0)
    coordinator.write("one", (0, 0, 2, 1))
    coordinator.write("two", (1, 1, 2, 1))
    log.look("begun")
    wait("idle")
    wait("still idle")
    coordinator.write("after all", (3, 3, 2, 1))
    wait("written")
    coordinator.ask("deleted", ApiKey.DELETE_SHARE_GROUP_STATE)
    wait("deleted")
    other.begin("another begun", 0, 0)
    log.look("another begun")
    wait("idle again")


def topic_gone(play: ModernPlay) -> None:
    """The topic of share partitions is deleted."""
    if not _serves(play):
        return
    log = _Log(play)
    coordinator = _Coordinator(play)
    coordinator.begin("begun", 3, 0)
    coordinator.write("one", (0, 0, 2, 1))
    log.look("written")
    play.delete_topic(play.text("-t"))
    log.look("deleted")


STRANGE = {
    "state 9": (0, 1, 9, 1),
    "state -1": (0, 1, -1, 1),
    "acquired": (0, 1, 1, 1),
    "32766 deliveries": (0, 1, 0, 32766),
    "32767 deliveries": (0, 1, 0, 32767),
    "-1 deliveries": (0, 1, 0, -1),
    "records that do not exist yet": (0, 9, 0, 1),
    "negative offsets": (-5, 1, 0, 1),
    "offsets in reverse": (1, 0, 0, 1),
}


def strange(play: ModernPlay) -> None:
    """States that no broker writes, and what the leader does with them."""
    if not _serves(play):
        return
    for number, (label, row) in enumerate(STRANGE.items()):
        (topic,) = kept_topics(play, f"-t{number}", partitions=1)
        produce(play, topic, 2, 2)
        sharer = Sharer(play, earliest(play, f"-g{number}")).join(topic)
        coordinator = _Coordinator(play, f"-g{number}", topic)
        coordinator.write(label, row, state_epoch=90, start_offset=0)
        coordinator.read(f"{label}: read", 0)
        at = (topic, 0)
        sharer.fetch(f"{label}: fetched", at)
        sharer.acknowledge(f"{label}: released", {at: [(0, 0, [RELEASE])]})
        coordinator.read(f"{label}: read again", 0)
        sharer.fetch(f"{label}: fetched again", at)
        play.peer.hang_up(sharer.connection)


SCENARIOS = (told, many, used, idle, topic_gone, strange)

OWN_SETTINGS = {
    "share_state-many": {"share.coordinator.snapshot.update.records.per.snapshot": "3"},
    "share_state-idle": {
        "share.coordinator.cold.partition.snapshot.interval.ms": "1500",
        "share.coordinator.state.topic.prune.interval.ms": "500",
        "share.coordinator.state.topic.num.partitions": "1",
    },
}
