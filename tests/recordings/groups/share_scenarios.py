"""Share groups (KIP-932): their members and their offsets."""

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.groups.modern_play import NEWEST, ModernPlay

HEARTBEAT = ApiKey.SHARE_GROUP_HEARTBEAT
A = "AAAAAAAAAAAAAAAAAAAAAQ"
B = "AAAAAAAAAAAAAAAAAAAAAg"


def bad_heartbeats(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t", partitions=1)
    group = play.text("g")
    play.share("no member id", group, "", 0, [topic])
    play.share("no uuid", group, "m", 0, [topic])
    play.share("no group id", "", A, 0, [topic])
    play.share("no rack id", group, A, 0, [topic], rack_id="")
    play.share("no topics", group, A, 0, None)
    play.share("empty topics", play.text("e"), A, 0, [])
    play.share("epoch -2", group, A, -2, None)
    play.share("leaving no group", play.text("x"), A, -1, None)
    play.share("unknown group", play.text("x"), A, 3, None)
    play.settle()
    play.share("joins", group, A, 0, [topic])
    play.share("unknown member", group, B, 3, None)
    play.share("leaving unknown", group, B, -1, None)


def members(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    first, second = play.topic("t", "u", partitions=1)
    group = play.text("g")
    response = play.share("joins", group, A, 0, [first])
    if response.error_code:
        return
    play.share_groups("joined", group)
    play.list("joined")
    play.settle()
    play.share("settled", group, A)
    play.share_groups("settled", group)
    for ahead in (1, 5, -1, -2):
        play.share(f"{ahead} ahead", group, A, ahead=ahead)
    play.share("joins again", group, A, 0, [first])
    play.share("another", group, B, 0, [first])
    play.settle()
    play.share("another, settled", group, B)
    play.share("first, settled", group, A)
    play.share_groups("both", group)
    play.share("other topic", group, A, None, [second])
    play.settle()
    play.share("other topic, settled", group, A)
    play.settle()
    play.share("other topic, settled more", group, A)
    play.share("alone with its topic", group, B)
    play.share_groups("two topics", group)
    play.describe("as classic", group, version=6)
    play.consumer_groups("as consumers", group)
    play.commit("offsets", group, [(first, 0, 5)])
    play.fetch("offsets", group, [(first, [0])])
    play.delete_offsets("offsets", group, first)
    play.enter("as a consumer", group, A, first)
    play.join("as classic", group, protocols=(("range", b"\0"),))
    play.delete("not empty", group)
    play.share("leaves", group, A, -1, None)
    play.share("another leaves", group, B, -1, None)
    play.share_groups("empty", group)
    play.list("empty", types=["share"])
    play.delete("empty", group)
    play.share_groups("deleted", group, play.text("none"), "")


def parts_of_two_topics(play: ModernPlay) -> None:
    """Two members, two topics: the first one keeps a topic, selected by a hash of topic ids."""
    if not play.has(HEARTBEAT):
        return
    topics = play.topic("t", "u", partitions=1)
    group = play.text("g")
    if play.share("joins", group, A, 0, topics).error_code:
        return
    play.settle()
    play.share("settled", group, A)
    play.share("another", group, B, 0, topics)
    for round_ in ("first", "second"):
        play.settle()
        for member in (A, B):
            request = {
                "group_id": group,
                "member_id": member,
                "member_epoch": play.epoch_of(group, member),
                "subscribed_topic_names": list(topics),
            }
            response = play.ask(HEARTBEAT, NEWEST, request)
            held = sorted(row.partitions for row in response.assignment.topic_partitions)
            play.steps.append((f"{round_} time, {member[-1]}", held))


def offsets_of_strange_groups(play: ModernPlay) -> None:
    if not play.has(ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS):
        return
    (topic,) = play.topic("t")
    missing = play.text("-nope")
    none = play.text("none")
    for version in play.versions(ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS):
        _describe(play, f"unknown group {version}", [(none, [(topic, [0])])], version)
        _describe(play, f"all of an unknown group {version}", [(none, None)], version)
        _describe(play, f"nothing {version}", [(none, [])], version)
        _describe(play, f"no group id {version}", [("", [(topic, [0])])], version)
        _describe(play, f"no groups {version}", [], version)
    _alter(play, "unknown group", play.text("a"), [(topic, 0, 1)])
    play.share_groups("altered to life", play.text("a"))
    _alter(play, "unknown group, no topics", play.text("b"), [])
    _alter(play, "unknown group, missing topic", play.text("c"), [(missing, 0, 1)])
    play.share_groups("altered with nothing", play.text("b"), play.text("c"))
    _alter(play, "unknown group, missing partition", play.text("d"), [(topic, 7, 1)])
    play.share_groups("altered a missing partition", play.text("d"))
    play.commit("classic", play.text("s"), [(topic, 0, 1)])
    _alter(play, "of a classic group", play.text("s"), [(topic, 0, 1)])
    _delete(play, "of a classic group", play.text("s"), [topic])
    _alter(play, "no group id", "", [(topic, 0, 1)])
    _delete(play, "unknown group", none, [topic])
    _delete(play, "unknown group, no topics", none, [])
    _delete(play, "no group id", "", [topic])


def offsets_that_cannot_be(play: ModernPlay) -> None:
    """Requests about a group without a name, and about topics without partitions."""
    if not play.has(ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS):
        return
    (topic,) = play.topic("t")
    missing, none = play.text("-nope"), play.text("none")
    for version in play.versions(ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS):
        for group, name in (("", "no name"), (none, "unknown")):
            _describe(play, f"all, {name} {version}", [(group, None)], version)
            _describe(play, f"missing, {name} {version}", [(group, [(missing, [0])])], version)
            _describe(play, f"no partitions, {name} {version}", [(group, [(topic, [])])], version)
            both = [(group, [(topic, []), (missing, [0])])]
            _describe(play, f"both, {name} {version}", both, version)


def offsets(play: ModernPlay) -> None:
    if not play.has(ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS):
        return
    first, second = play.topic("t", "u")
    missing = play.text("-nope")
    group, none = play.text("g"), play.text("none")
    response = play.share("joins", group, A, 0, [first])
    if response.error_code:
        return
    for _ in range(2):
        play.settle()
        play.ask(HEARTBEAT, 1, {"group_id": group, "member_id": A, "member_epoch": 2})
    wanted = [(group, [(first, [0, 1]), (second, [0])])]
    for version in play.versions(ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS):
        _describe(play, f"joined {version}", wanted, version)
        _describe(play, f"all {version}", [(group, None), (none, None)], version)
    _describe(play, "missing topic", [(group, [(missing, [0])])])
    _alter(play, "not empty", group, [(first, 0, 1)])
    _delete(play, "not empty", group, [first])
    play.share("leaves", group, A, -1, None)
    play.settle()
    _describe(play, "empty", wanted)
    _alter(play, "empty", group, [(first, 0, 1), (first, 7, 1), (second, 0, 1), (missing, 0, 1)])
    _alter(play, "no topics", group, [])
    _describe(play, "altered", wanted)
    _describe(play, "all altered", [(group, None)])
    _delete(play, "empty", group, [first, missing])
    _delete(play, "again", group, [first])
    _delete(play, "no topics", group, [])
    _describe(play, "deleted", wanted)
    _describe(play, "all that is left", [(group, None)])


def topics_never_read(play: ModernPlay) -> None:
    """Deletion of offsets of groups that have never read the topic, or no longer read it."""
    if not play.has(ApiKey.DELETE_SHARE_GROUP_OFFSETS):
        return
    first, second = play.topic("t", "u")
    missing, group, altered = play.text("-nope"), play.text("g"), play.text("a")
    response = play.share("joins", group, A, 0, [missing])
    if response.error_code:
        return
    play.settle()
    play.share("leaves", group, A, -1, None)
    _alter(play, "another", altered, [(first, 0, 1)])
    _alter(play, "a missing partition", play.text("p"), [(first, 9, 1)])
    for label in ("before", "after"):
        for name, of in (("joined", group), ("altered", altered), ("partition", play.text("p"))):
            _delete(play, f"missing, {name} {label}", of, [missing])
            _delete(play, f"not read, {name} {label}", of, [second])
            _delete(play, f"both, {name} {label}", of, [missing, second])
            _delete(play, f"all, {name} {label}", of, [missing, second, first])
            _delete(play, f"again, {name} {label}", of, [missing, second, first])
        _alter(play, f"a missing topic {label}", group, [(missing, 0, 1)])


def topics_twice(play: ModernPlay) -> None:
    """Requests with duplicate topics and partitions."""
    if not play.has(ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS):
        return
    first, second = play.topic("t", "u")
    missing, group = play.text("-nope"), play.text("g")
    _alter(
        play,
        "first",
        group,
        [(second, 0, 1), (first, 0, 1), (second, 0, 2), (first, 1, 3), (first, 1, 4)],
    )
    gone = [
        (missing, 0, 1),
        (first, 9, 1),
        (missing, 0, 2),
        (first, 0, 5),
        (first, 9, 2),
        (missing, 1, 1),
    ]
    _alter(play, "missing", group, gone)
    for version in play.versions(ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS):
        for label, topics in {
            "topics": [(first, [0]), (second, [0]), (first, [1, 0]), (second, [0])],
            "partitions": [(first, [0, 0, 1]), (second, [0, 0])],
            "missing": [(missing, [0, 0]), (first, [0]), (missing, [1, 0]), (first, [0])],
            "missing alone": [(missing, [0, 0]), (missing, [1, 0])],
        }.items():
            _describe(play, f"{label} {version}", [(group, topics)], version)
        _describe(play, f"groups {version}", [(group, [(first, [0])])] * 2, version)
    _delete(play, "twice", group, [first, missing, first, second, missing])


def _describe(
    play: ModernPlay,
    label: str,
    groups: Sequence[tuple[str, Sequence[tuple[str, Sequence[int]]] | None]],
    version: int = 99,
) -> None:
    rows: list[dict[str, Any]] = []
    for group, topics in groups:
        named = None
        if topics is not None:
            named = [{"topic_name": name, "partitions": list(at)} for name, at in topics]
        rows.append({"group_id": group, "topics": named})
    play.call(label, ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, version, {"groups": rows})


def _alter(
    play: ModernPlay, label: str, group: str, offsets: Sequence[tuple[str, int, int]]
) -> None:
    """Alter offsets; adjacent offsets of the same topic are one element of the request."""
    rows = [
        {
            "topic_name": name,
            "partitions": [{"partition_index": at, "start_offset": to} for _, at, to in part],
        }
        for name, part in groupby(offsets, itemgetter(0))
    ]
    request = {"group_id": group, "topics": rows}
    play.call(f"alter: {label}", ApiKey.ALTER_SHARE_GROUP_OFFSETS, 0, request)


def _delete(play: ModernPlay, label: str, group: str, topics: Sequence[str]) -> None:
    request = {"group_id": group, "topics": [{"topic_name": name} for name in topics]}
    play.call(f"delete: {label}", ApiKey.DELETE_SHARE_GROUP_OFFSETS, 0, request)


SCENARIOS = (
    bad_heartbeats,
    members,
    parts_of_two_topics,
    offsets_of_strange_groups,
    offsets_that_cannot_be,
    offsets,
    topics_never_read,
    topics_twice,
)
