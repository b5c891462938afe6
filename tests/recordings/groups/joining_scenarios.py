"""Classic groups: joining, syncing and leaving, also with failing members."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.groups.classic_play import ClassicPlay

RANGE_XY = (("range", b"\2"), ("xy", b"\1"))
RANGE_RR = (("range", b"\3"), ("rr", b"\4"))


def every_version(play: ClassicPlay) -> None:
    for version in play.versions(ApiKey.JOIN_GROUP):
        group = play.text(f"v{version}")
        response = play.call(
            f"first {version}", ApiKey.JOIN_GROUP, version, play.join_request(group)
        )
        if response.error_code:
            request = play.join_request(group, response.member_id)
            response = play.call(f"again {version}", ApiKey.JOIN_GROUP, version, request)
        who = (group, response.generation_id, response.member_id)
        for sync in play.versions(ApiKey.SYNC_GROUP):
            assignments = {response.member_id: b"\xbe"}
            play.sync(f"sync {version}.{sync}", *who, assignments, version=sync)
        for beat in play.versions(ApiKey.HEARTBEAT):
            play.heartbeat(f"heartbeat {version}.{beat}", *who, version=beat)
        play.describe(f"described {version}", group)


def leaving(play: ClassicPlay) -> None:
    for version in play.versions(ApiKey.LEAVE_GROUP):
        group = play.text(f"v{version}")
        member = play.join(f"join {version}", group).member_id
        play.leave(f"wrong {version}", group, ("nobody", None), version=version)
        play.leave(f"right {version}", group, (member, None), version=version)
        play.leave(f"again {version}", group, (member, None), version=version)
        play.leave(f"no group {version}", play.text("none"), (member, None), version=version)
        play.leave(f"empty group id {version}", "", (member, None), version=version)
        play.leave(f"nobody {version}", group, version=version)
        play.describe(f"described {version}", group)


def bad_joins(play: ClassicPlay) -> None:
    join = ApiKey.JOIN_GROUP
    for version in play.versions(join):
        play.call(f"empty group id {version}", join, version, play.join_request(""))
        request = play.join_request(play.text("u"), "bogus")
        play.call(f"unknown member {version}", join, version, request)
        request = play.join_request(play.text("n"), protocol_type="")
        play.call(f"no type {version}", join, version, request)
    for timeout_ms in (0, 5999, 6000, 300_000, 300_001, 1_800_000, 1_800_001):
        request = play.join_request(play.text(f"s{timeout_ms}"), session_timeout_ms=timeout_ms)
        play.call(f"session of {timeout_ms}", join, 3, request)
    request = play.join_request("", session_timeout_ms=1)
    play.call("empty group id, bad session", join, 3, request)
    request = play.join_request(play.text("x"), "x", session_timeout_ms=1)
    play.call("unknown member, bad session", join, 3, request)
    group = play.text("one")
    member = play.join("somebody", group).member_id
    other = (("rr", b"\0"),)
    for label, request in {
        "other type": play.join_request(group, protocol_type="connect"),
        "other protocol": play.join_request(group, protocols=other),
        "unknown member of a group": play.join_request(group, "bogus"),
        "unknown member, other protocol": play.join_request(group, "bogus", protocols=other),
    }.items():
        play.call(label, join, 3, request, "b")
    play.call("own other protocol", join, 3, play.join_request(group, member, protocols=other))
    play.describe("described", group)
    for timeout_ms in (0, -5):
        request = play.join_request(play.text(f"r{timeout_ms}"), rebalance_timeout_ms=timeout_ms)
        play.call(f"rebalance timeout of {timeout_ms}", join, 3, request)


def no_protocols(play: ClassicPlay) -> None:
    for version in play.versions(ApiKey.JOIN_GROUP):
        request = play.join_request(play.text(f"p{version}"), protocols=())
        play.call(f"none {version}", ApiKey.JOIN_GROUP, version, request, f"c{version}")
    request = play.join_request(play.text("x"), "x", protocols=())
    play.call("none of an unknown member", ApiKey.JOIN_GROUP, 9, request)


def alone(play: ClassicPlay) -> None:
    group = play.text()
    member = play.join("joins", group).member_id
    play.describe("to sync", group)
    play.list("to sync", 4)
    play.heartbeat("before syncing", group, 1, member)
    play.heartbeat("before syncing, wrong generation", group, 7, member)
    play.sync("syncs", group, 1, member, {member: b"\xaa"})
    play.describe("stable", group)
    play.list("stable")
    for generation in (1, 2, 0, -1):
        play.heartbeat(f"generation {generation}", group, generation, member)
    play.heartbeat("unknown member", group, 1, "bogus")
    play.heartbeat("unknown group", play.text("x"), 1, member)
    play.heartbeat("empty group id", "", 1, member)
    play.heartbeat("empty member id", group, 1, "")
    play.sync("wrong generation", group, 5, member)
    play.sync("unknown member", group, 1, "bogus")
    play.sync("unknown group", play.text("x"), 1, member)
    play.sync("empty group id", "", 1, member)
    play.sync("other protocol", group, 1, member, protocol_name="rr")
    play.sync("other type", group, 1, member, protocol_type="connect")
    play.sync("no protocol", group, 1, member, protocol_type=None, protocol_name=None)
    play.sync("once more", group, 1, member, {member: b"\xbb"})
    play.leave("leaves", group, (member, None))
    play.describe("empty", group)
    play.list("empty")
    play.heartbeat("of an empty group", group, 2, member)
    play.sync("of an empty group", group, 2, member)
    request = play.join_request(group, member)
    play.call("back with the old id", ApiKey.JOIN_GROUP, 9, request)
    play.join("back", group)
    play.delete("not empty", group)
    play.leave("leaves again", group, (member, None))


def two_members(play: ClassicPlay) -> None:
    group = play.text()
    first = play.join("a", group).member_id
    play.sync("a", group, 1, first, {first: b"\xaa"})
    play.begin_join(group, "b", protocols=RANGE_XY)
    play.waits("b", "b")
    play.describe("preparing", group)
    play.list("preparing")
    play.heartbeat("preparing", group, 1, first)
    play.heartbeat("preparing, wrong generation", group, 3, first)
    play.sync("preparing", group, 1, first)
    play.begin_join(group, "a", first, protocols=RANGE_RR)
    leader, follower = play.outcome("a joined", "a"), play.outcome("b joined", "b")
    second = follower.member_id
    assert leader.members
    play.describe("completing", group)
    play.heartbeat("completing", group, 2, second, "b")
    play.begin_sync("b", group, 2, second, protocol_name=leader.protocol_name)
    play.waits("b to sync", "b")
    assignments = {first: b"\1\1", second: b"\2\2"}
    play.sync("a", group, 2, first, assignments, protocol_name=leader.protocol_name)
    play.outcome("b synced", "b")
    play.describe("stable", group)
    _rejoining(play, group, first, second)


def _rejoining(play: ClassicPlay, group: str, first: str, second: str) -> None:
    """The leader `first` and the follower `second` rejoin in different states."""
    join = ApiKey.JOIN_GROUP
    leader = play.join_request(group, first, RANGE_RR)
    follower = play.join_request(group, second, RANGE_XY)
    play.call("follower again", join, 9, follower, "b")
    play.heartbeat("still stable", group, 2, first)
    play.begin(join, 9, leader, "a")
    play.waits("leader again", "a")
    play.heartbeat("a rebalance", group, 2, second, "b")
    play.begin(join, 9, follower, "b")
    play.outcome("leader, third generation", "a")
    name = play.outcome("follower, third generation", "b").protocol_name
    play.call("follower again before syncing", join, 9, follower, "b")
    play.call("leader again before syncing", join, 9, leader, "a")
    play.begin_sync("b", group, 3, second, protocol_name=name)
    play.waits("follower to sync", "b")
    changed = (("range", b"\x13"), ("rr", b"\x14"))
    play.begin(join, 9, play.join_request(group, first, changed), "a")
    play.outcome("follower's sync broken off", "b")
    play.begin(join, 9, follower, "b")
    play.outcome("leader, fourth generation", "a")
    play.outcome("follower, fourth generation", "b")
    play.leave("leader leaves before syncing", group, (first, None))
    play.describe("preparing after that", group)
    play.heartbeat("follower must join", group, 4, second, "b")
    play.call("follower leads", join, 9, follower, "b")
    play.leave("last leaves", group, (second, None), connection="b")
    play.describe("empty", group)
    play.delete("empty", group)
    play.describe("deleted", group)


def selected_protocol(play: ClassicPlay) -> None:
    group = play.text()
    x_y = (("x", b"\1"), ("y", b"\2"))
    member = play.join("x and y", group, protocols=x_y).member_id
    play.sync("x and y", group, 1, member, protocol_name="x")
    play.begin_join(group, "b", protocols=(("z", b"\1"), ("y", b"\2")))
    play.begin_join(group, "a", member, protocols=x_y)
    play.outcome("y is left", "a")
    play.outcome("y is left, b", "b")
    request = play.join_request(group, protocols=(("x", b"\1"),))
    play.call("x alone", ApiKey.JOIN_GROUP, 9, request, "c")


def three_members(play: ClassicPlay) -> None:
    group = play.text()
    first = play.join("a", group).member_id
    play.sync("a", group, 1, first)
    play.begin_join(group, "b")
    play.waits("b", "b")
    play.leave("a leaves meanwhile", group, (first, None))
    second = play.outcome("b alone", "b").member_id
    play.sync("b", group, 2, second, {second: b"\1"}, connection="b")
    play.begin_join(group, "c")
    play.waits("c", "c")
    play.begin_join(group, "d")
    play.waits("d", "d")
    play.begin_join(group, "b", second)
    play.outcome("c joined", "c")
    play.outcome("d joined", "d")
    play.outcome("b leads", "b")


def promised_id(play: ClassicPlay) -> None:
    """A member that does not join again with the member id that it was given."""
    if not play.has(ApiKey.JOIN_GROUP, 4):
        return
    group = play.text()
    request = play.join_request(group)
    member = play.call("asks", ApiKey.JOIN_GROUP, 4, request).member_id
    play.describe("promised alone", group)
    play.list("promised alone")
    play.heartbeat("promised", group, 0, member)
    play.sync("promised", group, 0, member)
    play.leave("leaves", group, (member, None))
    play.leave("leaves again", group, (member, None))
    play.describe("left", group)
    play.call("joins too late", ApiKey.JOIN_GROUP, 4, play.join_request(group, member))
    play.delete("deleted", group)
    other = play.join("somebody", play.text("2")).member_id
    play.sync("somebody", play.text("2"), 1, other)
    request = play.join_request(play.text("2"), session_timeout_ms=6000)
    play.call("asks and stays away", ApiKey.JOIN_GROUP, 4, request, "b")
    play.begin_join(play.text("2"), "a", other)
    play.waits("is waited for", "a")
    play.peer.pause(6500)
    play.outcome("no longer", "a")


def promised_id_of_first(play: ClassicPlay) -> None:
    """The first member of a group joins while another one has an id and has not joined."""
    join = ApiKey.JOIN_GROUP
    if not play.has(join, 4):
        return
    group = play.text()
    promised = play.call("an id", join, 4, play.join_request(group), "a").member_id
    first = play.call("first", join, 3, play.join_request(group), "b").member_id
    play.describe("first", group)
    play.begin(join, 4, play.join_request(group, promised), "a")
    play.waits("with the id", "a")
    play.call("first again", join, 3, play.join_request(group, first), "b")
    play.outcome("with the id", "a")


def session_expires(play: ClassicPlay) -> None:
    group = play.text()
    member = play.join("a", group, session_timeout_ms=6000).member_id
    play.sync("a", group, 1, member)
    for beat in range(3):
        play.peer.pause(3000)
        play.heartbeat(f"alive {beat}", group, 1, member)
    play.peer.pause(7500)
    play.describe("expired", group)
    play.heartbeat("expired", group, 1, member)


def rebalance_expires(play: ClassicPlay) -> None:
    group = play.text()
    long: dict[str, Any] = {"session_timeout_ms": 30_000}
    member = play.join("a", group, rebalance_timeout_ms=3000, **long).member_id
    play.sync("a", group, 1, member)
    play.begin_join(group, "b", rebalance_timeout_ms=2000, **long)
    play.outcome("b waits", "b", 1500)
    other = play.outcome("b alone", "b")
    play.heartbeat("a is out", group, 1, member)
    play.describe("to sync", group)
    play.peer.pause(3500)
    play.describe("not synced", group)
    play.heartbeat("not synced", group, other.generation_id, other.member_id)


SCENARIOS = (
    every_version,
    leaving,
    bad_joins,
    no_protocols,
    alone,
    two_members,
    selected_protocol,
    three_members,
    promised_id,
    promised_id_of_first,
    session_expires,
    rebalance_expires,
)
