"""Members of the classic and of the consumer protocol in one group (KIP-848)."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.groups.migrating_members import (
    between_assignments,
    changing_protocol,
    session_downgrades,
    sessions,
    static_members,
)
from tests.recordings.groups.migration_play import (
    BOTH,
    HEARTBEAT,
    begun,
    gives,
    rejoin,
    seen,
    speaks,
)
from tests.recordings.groups.modern_play import ModernPlay


def upgrade(play: ModernPlay) -> None:
    """A member of the consumer protocol joins a classic group."""
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    group = play.text()
    member = begun(play, group, topic)
    play.commit("in generation 1", group, [(topic, 0, 5)], 1, member)
    play.beat("nobody yet", group, "m", 1)
    play.enter("new", group, "m", topic)
    seen(play, "upgraded", group)
    play.consumer_groups("version 0", group, version=0)
    play.fetch("offsets", group, None)
    play.heartbeat("generation 0", group, 0, member)
    play.heartbeat("generation 2", group, 2, member)
    play.heartbeat("unknown", group, 1, "x")
    play.heartbeat("of the new member", group, play.epoch_of(group, "m"), "m")
    play.heartbeat("must rejoin", group, 1, member)
    play.commit("meanwhile", group, [(topic, 0, 6)], 1, member)
    play.sync("meanwhile", group, 1, member)
    play.sync("in generation 2", group, 2, member)
    now = rejoin(play, "owns both", group, member, topic, *BOTH)
    seen(play, "to give up", group)
    play.heartbeat("to give up", group, now, member)
    now = rejoin(play, "owns one", group, member, topic, 0)
    play.heartbeat("gave up", group, now, member)
    play.beat("new has", group, "m")
    seen(play, "settled", group)
    for version in (2, 8, 9):
        for step in (-1, 0, 1):
            label = f"commit {version}, generation {step:+}"
            play.commit(label, group, [(topic, 0, 7)], now + step, member, version=version)
        play.commit(f"commit {version}, not its own", group, [(topic, 1, 7)], now - 1, member)
        play.commit(f"commit {version} as x", group, [(topic, 0, 7)], now, "x", version=version)
    for step in (-1, 0, 1):
        asker: dict[str, Any] = {"member_id": member, "member_epoch": now + step}
        play.fetch(f"fetch {step:+}", group, [(topic, [0])], **asker)
    play.sync("again", group, now, member)
    play.sync("another protocol", group, now, member, protocol_name="x")
    play.sync("another type", group, now, member, protocol_type="connect")
    play.sync("another generation", group, now + 1, member)
    play.sync("of the new member", group, play.epoch_of(group, "m"), "m")
    now = rejoin(play, "without a reason", group, member, topic, 0)
    play.delete_offsets("subscribed", group, topic)
    play.delete("with members", group)
    play.leave("wrong", group, ("x", None), (member, "i"), ("", "i"))
    play.leave("wrong in version 2", group, ("x", None), version=2)
    play.leave("classic leaves", group, (member, None))
    play.settle()
    play.beat("has both", group, "m")
    seen(play, "alone", group)


def classic_joins(play: ModernPlay) -> None:
    """Classic members join a consumer group; some are rejected because of their protocols."""
    if not play.has(HEARTBEAT):
        return
    topic, other_topic = play.topic("t", "u")
    group = play.text()
    play.enter("new", group, "m", topic)
    for label, more in (
        ("no protocols", {"protocols": []}),
        ("another type", {"protocol_type": "connect"}),
        ("no type", {"protocol_type": ""}),
        ("no subscription", {"protocols": [{"name": "range", "metadata": b"\0"}]}),
        ("no metadata", {"protocols": [{"name": "range", "metadata": b""}]}),
    ):
        request = play.join_request(group, "", speaks([topic])) | more
        for version in (3, 9):
            play.call(f"{label} {version}", ApiKey.JOIN_GROUP, version, request)
    play.call("asks for an id", ApiKey.JOIN_GROUP, 9, play.join_request(group, "", speaks([topic])))
    play.settle()
    joined = play.join("classic", group, protocols=speaks([topic], version=1))
    member = joined.member_id
    play.sync("classic", group, joined.generation_id, member)
    play.heartbeat("nothing is free", group, joined.generation_id, member)
    seen(play, "both", group)
    play.beat("is to give up", group, "m", owned={topic: BOTH})
    play.beat("gave up", group, "m", owned={topic: [0]})
    play.heartbeat("something is free", group, joined.generation_id, member)
    protocols = speaks([topic], version=1)
    now = rejoin(play, "takes it", group, member, topic, protocols=protocols)
    play.heartbeat("has it", group, now, member)
    other = play.call(
        "speaks another",
        ApiKey.JOIN_GROUP,
        3,
        play.join_request(group, "", speaks([topic], name="x")),
        "b",
    )
    play.heartbeat("after the other", group, now, member)
    several = (*speaks([other_topic], name="x"), *speaks([other_topic]))
    play.settle()
    request = play.join_request(group, "", several)
    third = play.call("speaks both", ApiKey.JOIN_GROUP, 3, request, "b")
    play.sync("by the first", group, third.generation_id, third.member_id, protocol_name="x")
    play.sync("by the second", group, third.generation_id, third.member_id)
    seen(play, "three", group)
    play.leave("third leaves", group, (third.member_id, None), (other.member_id, None))
    request = play.join_request(group, "made-up", speaks([other_topic]))
    play.call("with an id of its own", ApiKey.JOIN_GROUP, 9, request, "c")
    request = play.join_request(group, "m", speaks([topic]))
    play.call("with an id of the other protocol", ApiKey.JOIN_GROUP, 9, request, "c")
    seen(play, "in the end", group)


def versions(play: ModernPlay) -> None:
    """Subscriptions of every version, in groups that are upgraded and groups that are joined."""
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    for version in range(4):
        group = play.text(f"-{version}")
        member = begun(play, group, topic, version)
        play.enter(f"joins {version}", group, "m", topic)
        protocols = speaks([topic], BOTH if version else (), version=version)
        rejoin(play, f"rejoins {version}", group, member, topic, protocols=protocols)
        play.consumer_groups(f"{version}", group)


def downgrade(play: ModernPlay) -> None:
    """The last member of the consumer protocol leaves."""
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    group = play.text()
    play.enter("new", group, "m", topic)
    play.commit("by it", group, [(topic, 0, 5)], play.epoch_of(group, "m"), "m")
    play.settle()
    member = play.join("classic", group, protocols=speaks([topic], version=1)).member_id
    play.beat("new leaves", group, "m", -1)
    seen(play, "downgraded", group)
    play.beat("gone", group, "m", 5)
    for generation in range(2, 6):
        play.heartbeat(f"generation {generation}", group, generation, member)
    play.fetch("offsets", group, None)
    request = play.join_request(group, member, speaks([topic], version=1))
    again = play.call("rejoins", ApiKey.JOIN_GROUP, 9, request)
    given = {member: gives(topic, BOTH, 1)}
    play.sync("assigns", group, again.generation_id, member, given)
    play.heartbeat("goes on", group, again.generation_id, member)
    play.commit("goes on", group, [(topic, 0, 6)], again.generation_id, member)
    seen(play, "classic again", group)
    play.enter("once more", group, "m", topic)
    seen(play, "upgraded once more", group)
    play.leave("classic leaves", group, (member, None))
    seen(play, "consumers alone", group)
    play.beat("leaves", group, "m", -1)
    seen(play, "empty", group)
    play.join("into the empty group", group, protocols=speaks([topic]))
    seen(play, "replaced", group)


def in_a_rebalance(play: ModernPlay) -> None:
    """A group is upgraded during a rebalance."""
    if not play.has(HEARTBEAT):
        return
    topic, other = play.topic("t", "u")
    group = play.text("-joins")
    first = begun(play, group, topic)
    play.begin_join(group, "b", protocols=speaks([topic]), session_timeout_ms=60_000)
    play.waits("b joins", "b")
    play.heartbeat("a is to join", group, 1, first)
    play.enter("new", group, "m", other)
    play.outcome("b waited", "b")
    seen(play, "upgraded", group)
    play.heartbeat("a", group, 1, first)
    group = play.text("-syncs")
    first = begun(play, group, topic)
    play.begin_join(group, "b", protocols=speaks([topic]), session_timeout_ms=60_000)
    play.waits("b joins again", "b")
    play.begin_join(group, "a", first, protocols=speaks([topic]), session_timeout_ms=60_000)
    play.outcome("a joined", "a")
    second = play.outcome("b joined", "b").member_id
    play.begin_sync("b", group, 2, second)
    play.waits("b syncs", "b")
    play.enter("another new", group, "m", other)
    play.outcome("b waited for its assignment", "b")
    seen(play, "upgraded as well", group)
    play.heartbeat("b", group, 2, second)
    group = play.text("-promised")
    request = play.join_request(group, "", speaks([topic]))
    promised = play.call("promised", ApiKey.JOIN_GROUP, 9, request).member_id
    play.enter("into a promise", group, "m", topic)
    request = play.join_request(group, promised, speaks([topic]))
    play.call("the promised one", ApiKey.JOIN_GROUP, 9, request)


def leaving(play: ModernPlay) -> None:
    """LeaveGroup for several members at once, and for members of the consumer protocol."""
    if not play.has(HEARTBEAT):
        return
    topics = play.topic("t", "u", "v")
    group = play.text()
    play.enter("new", group, "m", topics[0])
    members = []
    for name, topic in zip("abc", topics, strict=True):
        play.settle()
        joined = play.join(name, group, name, 3, protocols=speaks([topic]))
        members.append(joined.member_id)
    play.leave("two of them", group, *((member, None) for member in members[:2]))
    seen(play, "two are left", group)
    play.leave("the new one", group, ("m", None), version=2)
    play.leave("the new one again", group, ("m", None))
    seen(play, "one is left", group)
    group = play.text("-all-classic")
    play.enter("new", group, "m", topics[0])
    for member, topic in zip("mxy", topics, strict=True):
        play.settle()
        request = play.join_request(group, member, speaks([topic]))
        play.call(f"{member} joins", ApiKey.JOIN_GROUP, 9, request)
    seen(play, "all are classic", group)
    play.leave("m leaves", group, ("m", None))
    seen(play, "all classic ones that are left", group)


def refused(play: ModernPlay) -> None:
    """Classic groups that cannot be upgraded."""
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    for label, more in (
        ("connect", {"protocol_type": "connect"}),
        ("no subscription", {"protocols": (("range", b"\0"),)}),
        ("no metadata", {"protocols": (("range", b""),)}),
    ):
        group = play.text(label.replace(" ", "-"))
        joined = play.join(label, group, session_timeout_ms=60_000, **more)
        member = joined.member_id
        kind = more.get("protocol_type", "consumer")
        play.sync(label, group, 1, member, {member: b""}, protocol_type=kind)
        play.enter(f"into {label}", group, "m", topic)
        play.beat(f"into {label}, as if known", group, "m", 1)
        play.heartbeat(f"{label} goes on", group, 1, member)
        play.list(label)
    group = play.text("odd")
    member = play.join("odd", group, protocols=speaks([topic])).member_id
    play.sync("odd", group, 1, member, {member: b"\0"})
    play.enter("into an odd assignment", group, "m", topic)
    play.list("odd")


SCENARIOS = (
    upgrade,
    classic_joins,
    versions,
    downgrade,
    in_a_rebalance,
    leaving,
    between_assignments,
    refused,
    sessions,
    session_downgrades,
    static_members,
    changing_protocol,
)
