"""Static members (KIP-345) rejoin with a new member id, without a rebalance if possible."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.groups.classic_play import ClassicPlay

JOIN = ApiKey.JOIN_GROUP
STATIC_SINCE = 5


def coming_back(play: ClassicPlay) -> None:
    if not play.has(JOIN, STATIC_SINCE):
        return
    group = play.text()
    static: dict[str, Any] = {"group_instance_id": "i1"}
    first = play.join("a", group, **static).member_id
    play.sync("a", group, 1, first, {first: b"\xaa"}, **static)
    play.describe("described", group)
    for label, member, instance in (
        ("itself", first, "i1"),
        ("another instance", first, "i9"),
        ("another id", "bogus", "i1"),
        ("both others", "bogus", "i9"),
        ("no instance", first, None),
    ):
        play.heartbeat(label, group, 1, member, instance=instance)
    play.sync("another id", group, 1, "bogus", **static)
    play.call("joins under another id", JOIN, 9, play.join_request(group, "bogus", **static), "x")
    request = play.join_request(group, "bogus", group_instance_id="i2")
    play.call("unknown instance under an id", JOIN, 9, request, "x")
    second = play.call("back", JOIN, 9, play.join_request(group, **static), "b")
    play.heartbeat("the old id", group, 1, first, instance="i1")
    play.heartbeat("the new id", group, 1, second.member_id, "b", instance="i1")
    play.sync("back", group, 1, second.member_id, connection="b", **static)
    third = play.call("back in version 6", JOIN, 6, play.join_request(group, **static), "c")
    play.sync("back in version 6", group, third.generation_id, third.member_id, **static)
    request = play.join_request(group, protocols=(("range", b"\x77"),), **static)
    fourth = play.call("back with other metadata", JOIN, 9, request, "d")
    play.sync("with other metadata", group, fourth.generation_id, fourth.member_id, **static)
    play.describe("in the end", group)


def two_of_them(play: ClassicPlay) -> None:
    if not play.has(JOIN, STATIC_SINCE):
        return
    group = play.text()
    first_instance: dict[str, Any] = {"group_instance_id": "i1"}
    second_instance: dict[str, Any] = {"group_instance_id": "i2"}
    first = play.join("a", group, **first_instance).member_id
    play.sync("a", group, 1, first, **first_instance)
    play.begin(JOIN, 9, play.join_request(group, **second_instance), "b")
    play.waits("b", "b")
    play.begin(JOIN, 9, play.join_request(group, first, **first_instance), "a")
    play.outcome("a leads", "a")
    second = play.outcome("b joined", "b").member_id
    play.begin_sync("b", group, 2, second, **second_instance)
    play.sync("a assigns", group, 2, first, {first: b"\1", second: b"\2"}, **first_instance)
    play.outcome("b synced", "b")
    third = play.call(
        "follower back", JOIN, 9, play.join_request(group, **second_instance), "c"
    ).member_id
    play.heartbeat("no rebalance", group, 2, first, instance="i1")
    play.sync("follower back", group, 2, third, connection="c", **second_instance)
    play.describe("described", group)
    wrong = (("bogus", "i1"), ("", "i7"), ("bogus", None), ("bogus", "i7"))
    play.leave("wrong", group, *wrong)
    play.leave("by instance", group, ("", "i2"))
    play.describe("one left", group)
    play.leave("wrong in version 2", group, ("bogus", None), version=2)
    play.leave("the other", group, (first, "i1"))
    play.describe("none left", group)
    play.call(
        "back under the old id", JOIN, 9, play.join_request(group, first, **first_instance), "z"
    )


def replaced_while_waiting(play: ClassicPlay) -> None:
    if not play.has(JOIN, STATIC_SINCE):
        return
    group = play.text()
    static = play.join_request(group, group_instance_id="i1")
    first = play.join("a", group).member_id
    play.sync("a", group, 1, first)
    play.begin(JOIN, 9, static, "b")
    play.waits("b", "b")
    play.begin(JOIN, 9, static, "c")
    play.waits("c", "c")
    play.outcome("b is fenced", "b")
    play.begin_join(group, "a", first)
    play.outcome("a", "a")
    third = play.outcome("c joined", "c").member_id
    play.begin_sync("c", group, 2, third, group_instance_id="i1")
    play.begin(JOIN, 9, static, "d")
    play.waits("c to sync", "c")
    play.waits("d", "d")


def protocol_changes(play: ClassicPlay) -> None:
    """A static member rejoins with other protocols, so that another protocol is selected."""
    if not play.has(JOIN, STATIC_SINCE):
        return
    group = play.text()
    static: dict[str, Any] = {"group_instance_id": "i1"}
    member = play.join("x and y", group, protocols=(("x", b"\1"), ("y", b"\2")), **static)
    play.sync("x and y", group, 1, member.member_id, protocol_name="x", **static)
    request = play.join_request(group, protocols=(("y", b"\3"),), **static)
    back = play.call("y alone", JOIN, 9, request, "b")
    play.heartbeat("y alone", group, back.generation_id, back.member_id, "b", instance="i1")
    play.describe("y alone", group)


def old_leaders(play: ClassicPlay) -> None:
    """A static member rejoins and leads in versions whose responses cannot list static members."""
    if not play.has(JOIN, STATIC_SINCE):
        return
    for version in range(play.versions(JOIN)[0], STATIC_SINCE + 1):
        for label, is_stable in (("while assigning", False), ("stable", True)):
            place = f"{label}, {version}"
            group = play.text(f"-{version}{is_stable}")
            static: dict[str, Any] = {"group_instance_id": "i1"}
            member = play.join(f"static, {place}", group, **static).member_id
            if is_stable:
                play.sync(f"static, {place}", group, 1, member, {member: b"\0"}, **static)
            play.call(place, JOIN, version, play.join_request(group, member))
            for generation in (1, 2):
                beat = f"generation {generation}, {place}"
                play.heartbeat(beat, group, generation, member, instance="i1")
                play.sync(beat, group, generation, member, {member: b"\1"}, **static)
            play.describe(place, group)


def session_expires(play: ClassicPlay) -> None:
    if not play.has(JOIN, STATIC_SINCE):
        return
    group = play.text()
    long: dict[str, Any] = {"session_timeout_ms": 30_000, "rebalance_timeout_ms": 2000}
    first = play.join("a", group, group_instance_id="i1", **long).member_id
    play.sync("a", group, 1, first, group_instance_id="i1")
    play.begin(JOIN, 9, play.join_request(group, group_instance_id="i2", **long), "b")
    play.outcome("b waits", "b", 1000)
    second = play.outcome("b without a", "b").member_id
    play.describe("a is still a member", group)
    play.sync("b assigns", group, 2, second, {second: b"\2"}, group_instance_id="i2")
    play.heartbeat("a", group, 2, first, instance="i1")


SCENARIOS = (
    coming_back,
    two_of_them,
    replaced_while_waiting,
    protocol_changes,
    old_leaders,
    session_expires,
)
