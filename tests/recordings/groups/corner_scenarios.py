"""Rare situations of groups that occur in tests of other projects."""

from typing import Any

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey, Operation, Permission, ResourceType
from kafka_shim.protocol.messages.consumer_protocol_assignment import (
    ConsumerProtocolAssignment,
    TopicPartition,
)
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.shim.state.java_collections import in_hash_map_order
from tests.recordings.groups.classic_play import RANGE
from tests.recordings.groups.migration_play import BOTH, HEARTBEAT, begun, seen, speaks
from tests.recordings.groups.modern_play import ModernPlay
from tests.recordings.groups.play import SOON_MS
from tests.recordings.peers.peer import WAITS, ask_root
from tests.recordings.peers.topics import delete

REFRESH_MS = 12_000
OFFSETS_TOPIC = "__consumer_offsets"


def refused_joins(play: ModernPlay) -> None:
    """JoinGroup with a rejected member id; some responses repeat the id."""
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    groups = {
        "consumer": play.text("-c"),
        "classic": play.text("-k"),
        "share": play.text("-s"),
        "streams": play.text("-r"),
        "none": play.text("-n"),
    }
    play.enter("consumer", groups["consumer"], "m", topic)
    begun(play, groups["classic"], topic)
    play.share("share", groups["share"], "m", 0, [topic])
    source = {"subtopology_id": "s", "source_topics": [topic]}
    play.start("streams", groups["streams"], "m", {"epoch": 0, "subtopologies": [source]})
    for kind, group in groups.items():
        for label, more in (
            ("unknown", {}),
            ("another type", {"protocol_type": "connect"}),
            ("no protocols", {"protocols": []}),
            ("no type", {"protocol_type": ""}),
            ("no metadata", {"protocols": [{"name": "range", "metadata": b""}]}),
            ("short session", {"session_timeout_ms": 1}),
            ("another protocol", {"protocols": [{"name": "x", "metadata": b"\0"}]}),
            ("instance", {"group_instance_id": "i"}),
        ):
            for version in (2, 9):
                request = play.join_request(group, "made-up", speaks([topic])) | more
                play.call(f"{kind}, {label} {version}", ApiKey.JOIN_GROUP, version, request)


def user_data(play: ModernPlay) -> None:
    """A classic group is not upgraded if its leader puts user data into assignments."""
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    for data in (None, b"", b"data"):
        group = play.text(f"-{data!r}")
        request: dict[str, Any] = {"session_timeout_ms": 60_000, "protocols": speaks([topic])}
        joined = play.join("classic", group, **request)
        row = TopicPartition(topic=topic, partitions=list(BOTH))
        given = ConsumerProtocolAssignment(assigned_partitions=[row], user_data=data)
        written = (3).to_bytes(2, "big") + codecs.write_message(given, 3)
        member = joined.member_id
        play.sync("classic", group, joined.generation_id, member, {member: written})
        play.enter(f"into {data!r}", group, "m", topic)
        play.heartbeat(f"with {data!r}", group, joined.generation_id, member)
        seen(play, f"with {data!r}", group)


def orders(play: ModernPlay) -> None:
    """The order of described members, and of listed groups."""
    (topic,) = play.topic("t")
    classic = play.text("-classic")
    for at in range(7):
        more: dict[str, Any] = {"group_instance_id": f"i{at}", "session_timeout_ms": 60_000}
        play.begin_join(classic, f"c{at}", protocols=speaks([topic]), **more)
        play.peer.pause(50)
    request = {"groups": [classic]}
    response = play.ask(ApiKey.DESCRIBE_GROUPS, 5, request)
    ids = [member.member_id for member in response.groups[0].members]
    play.steps.append(("classic members", [len(ids), ids == in_hash_map_order(sorted(ids))]))
    if play.has(HEARTBEAT):
        modern = play.text("-modern")
        for member in ("m", "a", "zulu", "b1", "b2", "Q", "1", "22", "m3"):
            play.enter(f"{member} joins", modern, member, topic)
        found = play.ask(ApiKey.CONSUMER_GROUP_DESCRIBE, 0, {"group_ids": [modern]})
        ids = [member.member_id for member in found.groups[0].members]
        play.steps.append(("consumers", ids))
    for at in range(12):
        play.commit("listed", play.text(f"-g{at}"), [(topic, 0, 1)])
    listed = play.ask(ApiKey.LIST_GROUPS, 4, {})
    names = [group.group_id for group in listed.groups if group.group_id.startswith(play.name)]
    play.steps.append(("listed", [play.plain(name) for name in names]))


def expressions(play: ModernPlay) -> None:
    """Topics with a later DESCRIBE are found when regular expressions are evaluated again."""
    if not play.has(HEARTBEAT, 1):
        return
    (first,) = play.topic("first")
    _grant(play, ResourceType.GROUP, play.text("-g"), Operation.READ)
    expression = {"subscribed_topic_regex": f"{play.name}-.*", "subscribed_topic_names": []}
    epoch = _beat(play, "joins", 0, rebalance_timeout_ms=10_000, **expression)
    epoch = _beat(play, "sees nothing", epoch)
    _grant(play, ResourceType.TOPIC, first, Operation.DESCRIBE)
    play.settle()
    epoch = _beat(play, "granted", epoch)
    play.peer.pause(REFRESH_MS)
    for label in ("looked at again", "sees it", "still sees it"):
        epoch = _beat(play, label, epoch)
        play.settle()


def _beat(play: ModernPlay, label: str, epoch: int, **more: Any) -> int:
    """Send a heartbeat of alice, who owns no partitions; return the epoch in the response."""
    request = {
        "group_id": play.text("-g"),
        "member_id": "m",
        "member_epoch": epoch,
        "topic_partitions": [],
    }
    response = play.call(label, HEARTBEAT, 1, request | more, "alice")
    return epoch if response.error_code else int(response.member_epoch)


def _grant(play: ModernPlay, kind: ResourceType, name: str, operation: Operation) -> None:
    acl = AclCreation(
        resource_type=kind,
        resource_name=name,
        principal="User:alice",
        host="*",
        operation=operation,
        permission_type=Permission.ALLOW,
    )
    ask_root(play.peer, ApiKey.CREATE_ACLS, CreateAclsRequest(creations=[acl]))


def speechless(play: ModernPlay) -> None:
    """Members without protocols: 0.11 accepts them, and then never responds to any member."""
    (topic,) = play.topic("t")
    for group, state in ((play.text("-new"), "new"), (play.text("-used"), "used")):
        if state == "used":
            found = play.join("first", group, version=1)
            play.leave("gone", group, (found.member_id, None), version=0)
        play.begin_join(group, f"{state} a", version=1, protocols=())
        response = play.outcome(f"{state}, no protocols", f"{state} a", SOON_MS)
        play.describe(f"{state}, with it", group)
        play.list(f"{state}, with it")
        for name, protocols in (("b", RANGE), ("c", ())):
            play.begin_join(group, f"{state} {name}", version=1, protocols=protocols)
            play.waits(f"{state}, {name} joins", f"{state} {name}")
        play.commit(f"{state}, commit", group, [(topic, 0, 5)])
        described = play.ask(ApiKey.DESCRIBE_GROUPS, 5, {"groups": [group]})
        member = next((row.member_id for row in described.groups[0].members), "nobody")
        for generation in range(3):
            play.heartbeat(f"{state}, heartbeat {generation}", group, generation, member)
            play.sync(f"{state}, sync {generation}", group, generation, member)
            offsets = [(topic, 0, 6)]
            play.commit(f"{state}, its commit {generation}", group, offsets, generation, member)
        play.begin_join(group, f"{state} d", member, version=1)
        play.waits(f"{state}, it joins again", f"{state} d")
        play.delete(f"{state}, deleted", group)
        play.leave(f"{state}, it leaves", group, (member, None), version=0)
        if response == WAITS:
            play.waits(f"{state}, no protocols, still", f"{state} a")
        play.describe(f"{state}, without it", group)
        play.list(f"{state}, without it")
        play.begin_join(group, f"{state} e", version=1)
        play.waits(f"{state}, joins the rest", f"{state} e")
        play.describe(f"{state}, in the end", group)
        play.commit(f"{state}, commit in the end", group, [(topic, 0, 7)])
        play.fetch(f"{state}, committed", group, [(topic, [0])])


def offsets_topic(play: ModernPlay) -> None:
    """Groups are removed when `__consumer_offsets`, which stores them, is deleted."""
    (topic,) = play.topic("t")
    member = begun(play, play.text("-classic"), topic)
    play.commit("alone", play.text("-alone"), [(topic, 0, 5)])
    if play.has(HEARTBEAT):
        play.enter("modern", play.text("-modern"), "m", topic)
    play.list("before")
    delete(play.peer, [OFFSETS_TOPIC])
    play.peer.pause(2_000)
    play.heartbeat("gone", play.text("-classic"), 1, member)
    play.list("after")
    find = {"key": play.text("-classic"), "coordinator_keys": [play.text("-classic")]}
    for _ in range(100):
        response = play.ask(ApiKey.FIND_COORDINATOR, 1, find)
        if not response.error_code:
            break
        play.peer.pause(100)
    play.peer.pause(5_000)
    play.list("made anew")
    play.heartbeat("unknown", play.text("-classic"), 1, member)
    play.fetch("offsets", play.text("-alone"), None)
    play.commit("alone again", play.text("-alone"), [(topic, 0, 6)])
    play.list("in the end")


SCENARIOS = (refused_joins, user_data, orders, expressions, speechless, offsets_topic)
OWN_SETTINGS = {
    "corner-expressions": {"group.consumer.regex.refresh.interval.ms": "10000"},
    "corner-offsets_topic": {"offsets.topic.num.partitions": "3"},
}
