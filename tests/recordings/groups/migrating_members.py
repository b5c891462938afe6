"""Groups with both protocols: expired members, static members, members that convert (KIP-848)."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.groups.migration_play import (
    BOTH,
    HEARTBEAT,
    begun,
    rejoin,
    seen,
    speaks,
)
from tests.recordings.groups.modern_play import ModernPlay


def between_assignments(play: ModernPlay) -> None:
    """The group has a newer epoch without a target assignment yet (KIP-1263)."""
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    group = play.text()
    play.enter("stays", group, "m", topic)
    play.settle()
    member = play.join("classic", group, protocols=speaks([topic])).member_id
    play.beat("is to give up", group, "m", owned={topic: BOTH})
    play.beat("gave up", group, "m", owned={topic: [0]})
    now = rejoin(play, "takes it", group, member, topic)
    play.heartbeat("has it", group, now, member)
    play.settle()
    play.enter("goes", group, "n", topic)
    now = rejoin(play, "sees it", group, member, topic, 1)
    play.heartbeat("saw it", group, now, member)
    play.beat("goes at once", group, "n", -1)
    play.heartbeat("a newer epoch", group, now, member)
    play.sync("a newer epoch", group, now, member)
    now = rejoin(play, "rejoins", group, member, topic, 1)
    play.heartbeat("rejoined", group, now, member)
    play.settle()
    play.heartbeat("later", group, now, member)
    play.sync("later", group, now, member)
    now = rejoin(play, "rejoins later", group, member, topic, 1)
    play.heartbeat("rejoined later", group, now, member)


def sessions(play: ModernPlay) -> None:
    """Sessions of members expire in a group with both protocols."""
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    short, idle, away = play.text("-short"), play.text("-idle"), play.text("-away")
    for group in (short, idle, away):
        play.enter("new", group, "m", topic)
    play.settle()
    times: dict[str, Any] = {"rebalance_timeout_ms": 3000, "protocols": speaks([topic])}
    first = play.join("short session", short, session_timeout_ms=6000, **times)
    play.sync("short session", short, first.generation_id, first.member_id)
    second = play.join("does not sync", idle, session_timeout_ms=60_000, **times)
    third = play.join("does not rejoin", away, session_timeout_ms=60_000, **times)
    play.sync("does not rejoin", away, third.generation_id, third.member_id)
    play.beat("is to give up", away, "m", owned={topic: BOTH})
    play.beat("gave up", away, "m", owned={topic: [0]})
    play.heartbeat("is told to rejoin", away, third.generation_id, third.member_id)
    play.peer.pause(1500)
    play.heartbeat("is told again", away, third.generation_id, third.member_id)
    play.heartbeat("has not synced", idle, second.generation_id, second.member_id)
    play.peer.pause(2500)
    play.heartbeat("did not rejoin", away, third.generation_id, third.member_id)
    play.heartbeat("did not sync", idle, second.generation_id, second.member_id)
    play.heartbeat("in its session", short, first.generation_id, first.member_id)
    play.peer.pause(7000)
    play.heartbeat("after its session", short, first.generation_id, first.member_id)
    for group in (short, idle, away):
        play.consumer_groups("new alone", group)


def session_downgrades(play: ModernPlay) -> None:
    """The last consumer protocol member expires, or does not revoke partitions in time."""
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    silent, slow = play.text("-silent"), play.text("-slow")
    play.enter("silent", silent, "m", topic)
    play.enter("slow", slow, "m", topic, rebalance_timeout_ms=3000)
    play.settle()
    times: dict[str, Any] = {"session_timeout_ms": 100_000, "protocols": speaks([topic])}
    members = {}
    for group in (silent, slow):
        joined = play.join("classic", group, **times)
        play.sync("classic", group, joined.generation_id, joined.member_id)
        members[group] = joined
    play.beat("is to give up", slow, "m", owned={topic: BOTH})
    play.peer.pause(4000)
    joined = members[slow]
    seen(play, "slow", slow)
    play.heartbeat("without the slow one", slow, joined.generation_id, joined.member_id)
    play.heartbeat("one later", slow, joined.generation_id + 1, joined.member_id)
    play.peer.pause(43_000)
    seen(play, "silent", silent)


def static_members(play: ModernPlay) -> None:
    """Static members that change their protocol."""
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    group = play.text()
    instance: dict[str, Any] = {"group_instance_id": "i1", "session_timeout_ms": 60_000}
    first = begun(play, group, topic, group_instance_id="i1")
    play.enter("the instance itself", group, "m", topic, instance_id="i1")
    seen(play, "upgraded", group)
    play.heartbeat("the old id", group, 1, first, instance="i1")
    play.commit("the old id", group, [(topic, 0, 5)], 1, first)
    play.heartbeat("without an instance", group, 1, first)
    play.enter("second", group, "n", topic, instance_id="i2")
    play.settle()
    play.beat("first", group, "m", instance_id="i1", owned={topic: BOTH})
    play.beat("first gave up", group, "m", instance_id="i1", owned={topic: [0]})
    play.beat("second has", group, "n", instance_id="i2", owned={})
    request = play.join_request(group, "", speaks([topic]), **instance)
    back = play.call("the first goes back", ApiKey.JOIN_GROUP, 9, request)
    seen(play, "one of each", group)
    play.sync("back", group, back.generation_id, back.member_id, group_instance_id="i1")
    play.heartbeat("back", group, back.generation_id, back.member_id, instance="i1")
    play.heartbeat("another id", group, back.generation_id, "x", instance="i1")
    play.heartbeat("unknown instance", group, back.generation_id, back.member_id, instance="i7")
    again = play.call("and once more", ApiKey.JOIN_GROUP, 9, request)
    play.heartbeat("the id before", group, back.generation_id, back.member_id, instance="i1")
    play.sync("once more", group, again.generation_id, again.member_id, group_instance_id="i1")
    play.beat("second goes for a while", group, "n", -2, instance_id="i2")
    seen(play, "away", group)
    request = play.join_request(
        group, "", speaks([topic]), **instance | {"group_instance_id": "i2"}
    )
    last = play.call("the second goes back too", ApiKey.JOIN_GROUP, 9, request, "b")
    seen(play, "classic", group)
    play.heartbeat("the first", group, again.generation_id, again.member_id, instance="i1")
    if last != "waits":
        play.heartbeat("the second", group, last.generation_id, last.member_id, instance="i2")
    play.leave("by instance", group, ("", "i2"))


def changing_protocol(play: ModernPlay) -> None:
    """A member changes from one protocol to the other with the same member id."""
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    group = play.text()
    member = begun(play, group, topic)
    play.enter("new", group, "m", topic)
    play.beat("as one of the consumer protocol", group, member, 1)
    play.enter("enters anew", group, member, topic)
    seen(play, "consumers alone", group)
    play.heartbeat("as a classic one", group, 1, member)
