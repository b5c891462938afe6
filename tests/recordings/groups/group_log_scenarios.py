"""The records of classic groups and of offsets in `__consumer_offsets`."""

from itertools import groupby
from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from tests.oracle.real_kafka import numbers
from tests.recordings.coordinator_log import CoordinatorLog
from tests.recordings.groups.classic_play import subscription
from tests.recordings.groups.modern_play import ModernPlay
from tests.recordings.groups.offsets_in_transactions import Transaction
from tests.recordings.peers.peer import ask_root

TOPIC = "__consumer_offsets"
MESSAGES = {
    1: ("OffsetCommitKey", "OffsetCommitValue"),
    2: ("GroupMetadataKey", "GroupMetadataValue"),
}
MEMBERS = MESSAGES | {
    number: (f"{kind}{part}Key", f"{kind}{part}Value")
    for kind, parts in (
        (
            "ConsumerGroup",
            {
                3: "Metadata",
                4: "PartitionMetadata",
                5: "MemberMetadata",
                6: "TargetAssignmentMetadata",
                7: "TargetAssignmentMember",
                8: "CurrentMemberAssignment",
                16: "RegularExpression",
            },
        ),
        (
            "ShareGroup",
            {
                10: "MemberMetadata",
                11: "Metadata",
                12: "TargetAssignmentMetadata",
                13: "TargetAssignmentMember",
                14: "CurrentMemberAssignment",
                15: "StatePartitionMetadata",
            },
        ),
        (
            "StreamsGroup",
            {
                17: "Metadata",
                19: "MemberMetadata",
                20: "TargetAssignmentMetadata",
                21: "TargetAssignmentMember",
                22: "CurrentMemberAssignment",
                23: "Topology",
            },
        ),
    )
    for number, part in parts.items()
}
"""Keys and values by the type of the key."""
WRITTEN_MS = 100
"""Time in which a coordinator writes what it does by itself."""
EXPIRED_MS = 66_000
LATEST = -1
ORDERED_SINCE = (4,)
"""The release that writes offsets in the order of the request; older ones do in that of a map."""


class GroupLog:
    """Reads the records after each step; `has_others`: there are records of other kinds between
    them, so their places do not count.
    """

    def __init__(
        self, play: ModernPlay, *, has_others: bool = False, has_members: bool = False
    ) -> None:
        key = play.text()
        request = FindCoordinatorRequest(key=key, coordinator_keys=[key])
        ask_root(play.peer, ApiKey.FIND_COORDINATOR, request)
        messages = MEMBERS if has_members else MESSAGES
        self._play = play
        self._has_others = has_others
        self._has_members = has_members
        self._log = CoordinatorLog(play, TOPIC, messages.get, is_alone=True)

    def look(self, label: str, after_ms: int = WRITTEN_MS) -> None:
        """Record the new records."""
        self._play.peer.pause(after_ms)
        self._play.steps.append((f"{label}: written", self._ordered()))

    def _ordered(self) -> list[dict[str, Any]]:
        is_old = numbers(self._play.peer.release) < ORDERED_SINCE
        rows = ordered(self._log.new(), sorts_commits=is_old)
        for row in rows if self._has_others else ():
            del row["at"]
        for row in rows if self._has_others or self._has_members else ():
            del row["batch"]  # a coordinator joins writes that follow each other closely
        return rows

    def ends(self, label: str) -> None:
        """Record where the partitions end, for readers of all and of committed records."""
        for level in (0, 1):
            rows = [
                {"partition_index": at, "timestamp": LATEST} for at in range(self._log.partitions)
            ]
            request = {
                "replica_id": -1,
                "isolation_level": level,
                "topics": [{"name": TOPIC, "partitions": rows}],
            }
            response = self._play.ask(ApiKey.LIST_OFFSETS, 2, request)
            found = ((row.partition_index, row.offset) for row in response.topics[0].partitions)
            ends = sorted([index, offset] for index, offset in found if offset)
            self._play.steps.append((f"{label}: ends at {level}", ends))


def ordered(rows: list[dict[str, Any]], *, sorts_commits: bool) -> list[dict[str, Any]]:
    """Return the rows with the deleted offsets of a partition sorted, as a broker writes them in
    the order of a map. `sorts_commits`: also what the release commits in such an order.
    """

    def run_of(row: dict[str, Any]) -> tuple[int, bool, bool]:
        is_offset = "marker" not in row and row["key"]["is"] == "OffsetCommitKey"
        is_deletion = is_offset and row["value"] is None
        commits = sorts_commits and is_offset and row["batch"][0] == 0
        return row["at"][0], is_deletion, commits

    found: list[dict[str, Any]] = []
    for (_, is_deletion, commits), run in groupby(rows, run_of):
        several = list(run)
        if is_deletion or commits:
            places = [row["at"] for row in several]
            several.sort(key=lambda row: str(row["key"]))
            several = [row | {"at": at} for row, at in zip(several, places, strict=True)]
        found += several
    return found


def offsets(play: ModernPlay) -> None:
    """Commits without members, in every version, and what deletes them."""
    here, there = play.topic("t", "u")
    log = GroupLog(play)
    group = play.text("g")
    for version in play.versions(ApiKey.OFFSET_COMMIT):
        rows = [(there, 1, 5), (here, 0, version), (here, 1, 7)]
        play.commit(f"commit {version}", group, rows, version=version)
        log.look(f"commit {version}")
    leader_epoch = {"committed_leader_epoch": 3, "committed_offset": 8, "partition_index": 0}
    topics = [{"name": here, "topic_id": play.topic_ids[here], "partitions": [leader_epoch]}]
    for version in (4, 9):
        request = {"group_id": group, "topics": topics, "retention_time_ms": 5_000}
        request |= {"generation_id_or_member_epoch": -1}
        play.call("with an epoch", ApiKey.OFFSET_COMMIT, version, request)
        log.look(f"with an epoch or a time {version}")
    play.commit("refused", group, [(here, 0, 1)], 5, "bogus")
    play.commit("missing topic", group, [(play.unknown(), 0, 1), (here, 9, 1)])
    play.commit("nothing", play.text("n"), [])
    log.look("refused")
    play.delete_offsets("one", group, here, play.text("-nope"), partitions=(0, 5))
    log.look("deleted one")
    play.delete_offsets("the rest", group, here, there, partitions=(0, 1))
    log.look("deleted the rest")
    other = play.text("h")
    play.commit("another", other, [(here, 1, 1), (there, 0, 1), (here, 0, 1)])
    play.delete("another", other, play.text("missing"))
    log.look("deleted another")
    log.ends("in the end")


def members(play: ModernPlay) -> None:
    """A group from its first member to its deletion."""
    (topic,) = play.topic("t")
    log = GroupLog(play)
    group = play.text("g")
    protocols = (("range", subscription([topic])), ("other", b"\1\2"))
    first = play.join("a", group, protocols=protocols).member_id
    log.look("joined")
    play.sync("a", group, 1, first, {first: b"\xaa"})
    log.look("synced")
    play.heartbeat("a", group, 1, first)
    play.join("a again", group, member=first, protocols=protocols, rebalance_timeout_ms=20_000)
    log.look("joined again")
    play.sync("a again", group, 2, first, {first: b"\xab"})
    play.sync("a repeats", group, 2, first, {first: b"\xac"})
    log.look("synced again")
    play.commit("commits", group, [(topic, 0, 5), (topic, 1, 6)], 2, first)
    log.look("committed")
    play.begin_join(group, "b", protocols=protocols)
    play.waits("b", "b")
    log.look("b joins")
    play.begin_join(group, "a", first, protocols=protocols)
    play.outcome("a", "a")
    second = play.outcome("b", "b").member_id
    log.look("both joined")
    play.begin_sync("b", group, 3, second)
    play.sync("a assigns", group, 3, first, {first: b"\1", second: b"\2"})
    play.outcome("b synced", "b")
    log.look("both synced")
    play.leave("a leaves", group, (first, None))
    log.look("a left")
    play.leave("b leaves", group, (second, None))
    log.look("b left")
    play.commit("when empty", group, [(topic, 0, 8)])
    log.look("committed when empty")
    play.delete("the group", group)
    log.look("deleted")


def odd_members(play: ModernPlay) -> None:
    """Members that are no consumers, members that say nothing, and groups without assignments."""
    log = GroupLog(play)
    for suffix, kind in (("connect", "connect"), ("consumer", "consumer")):
        group = play.text(suffix)
        member = play.join(
            suffix, group, protocol_type=kind, session_timeout_ms=6_000, rebalance_timeout_ms=6_000
        ).member_id
        log.look(f"{suffix}: joined")
        play.sync(suffix, group, 1, member, protocol_type=kind)
        log.look(f"{suffix}: synced")
    play.peer.pause(7_000)
    log.look("timed out")
    group = play.text("leaves")
    member = play.join("leaves", group).member_id
    play.leave("leaves", group, (member, None))
    log.look("left before it synced")
    play.delete("leaves", group)
    log.look("deleted")


def static_members(play: ModernPlay) -> None:
    """Static members come back (KIP-345)."""
    if not play.has(ApiKey.JOIN_GROUP, 5):
        return
    log = GroupLog(play)
    group = play.text("g")
    static: dict[str, Any] = {"group_instance_id": "i1"}
    first = play.join("a", group, **static).member_id
    play.sync("a", group, 1, first, {first: b"\xaa"}, **static)
    log.look("synced")
    second = play.join("back", group, connection="b", **static)
    log.look("back")
    play.sync("back", group, 1, second.member_id, connection="b", **static)
    log.look("synced again")
    play.leave("leaves", group, ("", "i1"))
    log.look("left")


def transactions(play: ModernPlay) -> None:
    """Offsets of transactions, and the markers that end these."""
    (topic,) = play.topic("t")
    log = GroupLog(play)
    group = play.text("g")
    play.commit("before", group, [(topic, 0, 1)])
    transaction = Transaction(play)
    for committed in (False, True):
        transaction.add(group)
        log.look(f"{committed}: added")
        transaction.commit(f"{committed}: commits", group, topic, 77)
        transaction.commit(f"{committed}: commits another", group, topic, 78, index=1)
        play.commit(f"{committed}: meanwhile", group, [(topic, 0, 2)])
        log.look(f"{committed}: open")
        log.ends(f"{committed}: open")
        transaction.end(committed=committed)
        log.look(f"{committed}: ended")
        log.ends(f"{committed}: ended")
    other = play.text("h")
    transaction.add(other)
    transaction.commit("new group", other, topic, 5)
    transaction.end(committed=True)
    transaction.add(group)
    transaction.end(committed=False)
    log.look("a new group, and nothing")
    transaction.add(group)
    transaction.commit("deleted meanwhile", group, topic, 5)
    play.delete("with pending offsets", group)
    transaction.end(committed=True)
    log.look("deleted meanwhile")
    pending = play.text("p")
    transaction.add(pending)
    transaction.commit("pending", pending, topic, 5)
    play.delete_offsets("pending offset", pending, topic)
    log.look("deleted a pending offset")
    transaction.commit("pending again", pending, topic, 6)
    play.delete("with a pending offset alone", pending)
    transaction.end(committed=True)
    log.look("deleted with a pending offset alone")


def deleted_topics(play: ModernPlay) -> None:
    """A topic is deleted, and the offsets of its partitions with it."""
    gone, stays = play.topic("t", "u")
    log = GroupLog(play)
    alone, both, joined = play.text("a"), play.text("b"), play.text("j")
    play.commit("alone", alone, [(gone, 0, 1), (gone, 1, 2)])
    play.commit("both", both, [(gone, 0, 1), (stays, 0, 1)])
    member = play.join("joined", joined).member_id
    play.sync("joined", joined, 1, member)
    play.commit("joined", joined, [(gone, 0, 1)], 1, member)
    log.look("before")
    play.delete_topic(gone)
    log.look("after")
    play.leave("leaves", joined, (member, None))
    log.look("left")


def expired(play: ModernPlay) -> None:
    """Offsets and groups expire."""
    (topic,) = play.topic("t")
    log = GroupLog(play)
    play.commit("alone", play.text("a"), [(topic, 0, 3), (topic, 1, 4)])
    group = play.text("j")
    member = play.join("joined", group).member_id
    play.sync("joined", group, 1, member)
    play.leave("joined", group, (member, None))
    log.look("left", 3_000)
    group = play.text("c")
    member = play.join("committed", group).member_id
    play.sync("committed", group, 1, member)
    play.commit("committed", group, [(topic, 0, 3)], 1, member)
    play.leave("committed", group, (member, None))
    log.look("left again")
    log.look("expired", EXPIRED_MS)
    log.ends("in the end")


def consumer_groups(play: ModernPlay) -> None:
    """Offsets of consumer groups, and classic groups that become such groups (KIP-848)."""
    if not play.has(ApiKey.CONSUMER_GROUP_HEARTBEAT):
        return
    (topic,) = play.topic("t")
    log = GroupLog(play, has_others=True)
    group = play.text("g")
    play.enter("enters", group, "m", topic)
    epoch = play.epoch_of(group, "m")
    play.commit("commits", group, [(topic, 0, 3), (topic, 1, 4)], epoch, "m")
    log.look("committed")
    play.beat("leaves", group, "m", -1)
    play.delete("group", group)
    log.look("deleted")
    group = play.text("h")
    member = play.join("classic", group).member_id
    play.sync("classic", group, 1, member)
    play.commit("classic", group, [(topic, 0, 3)], 1, member)
    play.leave("classic", group, (member, None))
    log.look("classic")
    play.enter("enters the empty one", group, "m", topic)
    log.look("entered")
    play.beat("leaves too", group, "m", -1)
    play.join("classic again", group)
    log.look("classic again")


SCENARIOS = (
    offsets,
    members,
    odd_members,
    static_members,
    transactions,
    deleted_topics,
    expired,
    consumer_groups,
)
OWN_SETTINGS: dict[str, dict[str, str]] = {
    f"group_log-{scenario.__name__}": {} for scenario in SCENARIOS
} | {
    "group_log-expired": {
        "offsets.retention.check.interval.ms": "500",
        "offsets.retention.minutes": "1",
    },
}
"""Each has a broker of its own, so that offsets of records count."""
