"""Consumer groups (KIP-848)."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.groups.modern_play import ModernPlay

HEARTBEAT = ApiKey.CONSUMER_GROUP_HEARTBEAT


def bad_heartbeats(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    for version in play.versions(HEARTBEAT):
        group = play.text(f"v{version}")
        new: dict[str, Any] = {"version": version}
        play.enter(f"no member id {version}", play.text(f"n{version}"), "", topic, **new)
        play.enter(f"no group id {version}", "", "m", topic, **new)
        play.enter(f"blank group id {version}", " ", "m", topic, **new)
        play.enter(f"no instance id {version}", group, "m", topic, instance_id="", **new)
        play.enter(f"no rack id {version}", group, "m", topic, rack_id="", **new)
        play.enter(f"no timeout {version}", group, "m", topic, rebalance_timeout_ms=-1, **new)
        play.enter(f"owned unknown {version}", group, "m", topic, owned=None, **new)
        play.enter(f"owned {version}", group, "m", topic, owned={topic: [0]}, **new)
        play.enter(f"null topics {version}", group, "m", subscribed_topic_names=None, **new)
        play.enter(f"assignor {version}", group, "m", topic, server_assignor="bogus", **new)
        play.beat(f"epoch -3 {version}", group, "m", -3, **new)
        play.beat(f"a while, no instance {version}", group, "m", -2, **new)
        play.beat(f"a while, no group {version}", group, "m", -2, instance_id="i", **new)
        play.beat(f"leaving no group {version}", group, "m", -1, **new)
        play.beat(f"unknown group {version}", group, "m", 5, **new)
        play.beat(f"no member id later {version}", group, "", 5, **new)
        play.enter(f"no topics {version}", play.text(f"e{version}"), "m", **new)
        play.enter(f"first {version}", group, "m", topic, **new)
        play.beat(f"unknown member {version}", group, "x", 1, **new)
        play.beat(f"leaving unknown {version}", group, "x", -1, **new)
        play.beat(f"unknown instance {version}", group, "x", -2, instance_id="i", **new)
        play.beat(f"unknown instance's epoch {version}", group, "x", 1, instance_id="i", **new)


def one_member(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    play.enter("joins", group, "m", topic)
    play.consumer_groups("joined", group)
    play.list("joined")
    play.beat("says nothing", group, "m")
    play.beat("owns it", group, "m", owned={topic: [0, 1]})
    play.beat("owns a part", group, "m", owned={topic: [0]})
    full: dict[str, Any] = {"rebalance_timeout_ms": 10_000, "subscribed_topic_names": [topic]}
    play.beat("in full", group, "m", owned={topic: [0, 1]}, **full)
    play.beat("topics again", group, "m", subscribed_topic_names=[topic])
    for ahead in (1, 6, -1):
        play.beat(f"{ahead} ahead", group, "m", ahead=ahead, owned={topic: [0, 1]})
    play.enter("joins again", group, "m", topic)
    play.consumer_groups("joined again", group)
    play.delete("not empty", group)
    play.beat("leaves", group, "m", -1)
    play.consumer_groups("left", group)
    play.list("left")
    play.beat("left", group, "m", 1)
    play.settle()
    play.enter("is back", group, "m", topic)
    play.consumer_groups("is back", group)
    play.beat("leaves again", group, "m", -1)
    play.delete("empty", group)
    play.consumer_groups("deleted", group, play.text("none"), "")


def two_members(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    play.enter("a joins", group, "a", topic)
    play.beat("a owns all", group, "a", owned={topic: [0, 1]})
    play.enter("b joins", group, "b", topic)
    play.consumer_groups("b joined", group)
    play.beat("a, at once", group, "a", owned={topic: [0, 1]})
    play.settle()
    play.beat("b has to wait", group, "b", owned={})
    response = play.beat("a is to give up", group, "a", owned={topic: [0, 1]})
    play.consumer_groups("a is to give up", group)
    play.beat("a does not tell", group, "a")
    play.beat("a still owns all", group, "a", owned={topic: [0, 1]})
    kept = [0]
    if response.assignment is not None:
        kept = list(response.assignment.topic_partitions[0].partitions)
    play.beat("a owns the rest", group, "a", owned={topic: kept})
    play.consumer_groups("a gave up", group)
    play.beat("a's answer was lost", group, "a", ahead=-1, owned={topic: kept})
    play.beat("b takes it", group, "b")
    play.consumer_groups("b took it", group)
    play.beat("b owns it", group, "b", owned={topic: [1 - kept[0]]})
    play.beat("a leaves", group, "a", -1)
    play.consumer_groups("a left", group)
    play.settle()
    play.beat("b takes all", group, "b", owned={topic: [1 - kept[0]]})
    play.consumer_groups("b has all", group)


def rebalance_expires(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    play.enter("a joins", group, "a", topic, rebalance_timeout_ms=2000)
    play.beat("a owns all", group, "a", owned={topic: [0, 1]})
    play.settle()
    play.enter("b joins", group, "b", topic)
    play.beat("a is to give up", group, "a")
    play.peer.pause(1000)
    play.beat("a keeps all", group, "a", owned={topic: [0, 1]})
    play.peer.pause(1500)
    play.beat("a is out", group, "a")
    play.beat("b takes all", group, "b")
    play.consumer_groups("in the end", group)


def subscriptions(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    first, second = play.topic("t", "u")
    missing = play.text("-later")
    group = play.text("g")
    play.enter("to one and a missing one", group, "m", first, missing)
    play.settle()
    play.beat("to both", group, "m", subscribed_topic_names=[first, second])
    play.beat("owns both", group, "m", owned={first: [0, 1], second: [0, 1]})
    play.settle()
    play.beat("to the second", group, "m", subscribed_topic_names=[second])
    play.beat("owns both still", group, "m", owned={first: [0, 1], second: [0, 1]})
    play.beat("owns the second", group, "m", owned={second: [0, 1]})
    play.consumer_groups("to the second", group)
    play.settle()
    play.beat("to a missing one", group, "m", subscribed_topic_names=[second, missing])
    play.topic("later", partitions=1)
    play.settle()
    for turn in (1, 2):
        play.beat(f"it is made {turn}", group, "m", owned={second: [0, 1]})
    play.consumer_groups("it is made", group)
    play.beat("range", group, "m", server_assignor="range")
    play.consumer_groups("range", group)
    play.settle()
    play.beat("to nothing", group, "m", subscribed_topic_names=[])
    play.consumer_groups("to nothing", group)
    play.settle()
    play.beat("owns nothing", group, "m", owned={})
    play.consumer_groups("owns nothing", group)


def expressions(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT, 1):
        return
    first, second = play.topic("t", "u", partitions=1)
    group = play.text("g")
    plain: dict[str, Any] = {"subscribed_topic_names": None}
    play.enter("broken", group, "m", subscribed_topic_regex="(", **plain)
    play.enter("empty", play.text("e"), "m", subscribed_topic_regex="", **plain)
    play.enter("both", play.text("b"), "m", first, subscribed_topic_regex=f"{second}.*")
    matching: dict[str, Any] = {"subscribed_topic_regex": play.text("-[tx]"), **plain}
    play.enter("matching", group, "m", **matching)
    play.settle()
    play.beat("matched", group, "m", owned={})
    play.consumer_groups("matched", group)
    play.topic("x", partitions=1)
    play.settle()
    play.beat("another", group, "m", owned={first: [0]})
    play.settle()
    play.beat("none", group, "m", owned={first: [0]}, subscribed_topic_regex="")
    play.consumer_groups("none", group)


def static_members(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    instance: dict[str, Any] = {"instance_id": "i1"}
    play.enter("joins", group, "a", topic, **instance)
    play.beat("owns it", group, "a", owned={topic: [0, 1]}, **instance)
    play.beat("without instance", group, "a")
    play.enter("somebody else", group, "b", topic, **instance)
    play.beat("another id", group, "b", 1, **instance)
    play.beat("another id leaves", group, "b", -1, **instance)
    play.settle()
    play.enter("a second", group, "c", topic, instance_id="i2")
    play.beat("leaves for a while", group, "a", -2, **instance)
    play.consumer_groups("away", group)
    play.beat("is heard, away", group, "a", 1, **instance)
    play.settle()
    play.enter("is back", group, "d", topic, **instance)
    play.consumer_groups("is back", group)
    play.beat("the old id", group, "a", 1, **instance)
    play.beat("leaves for good", group, "d", -1, **instance)
    play.consumer_groups("gone", group)
    play.beat("the second leaves", group, "c", -1)
    play.consumer_groups("empty", group)


def offsets(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    play.commit("before", group, [(topic, 0, 1)])
    play.enter("joins", group, "m", topic)
    play.fetch("kept", group, None)
    now = play.epoch_of(group, "m")
    for version in [version for version in play.versions(ApiKey.OFFSET_COMMIT) if version > 0]:
        for label, who in (
            ("member", (now, "m")),
            ("nobody", (-1, "")),
            ("stale", (now - 1, "m")),
            ("newer", (now + 1, "m")),
            ("unknown", (now, "x")),
            ("no epoch", (-1, "m")),
        ):
            play.commit(f"{label} {version}", group, [(topic, 0, 7)], *who, version=version)
    for version in [version for version in play.versions(ApiKey.OFFSET_FETCH) if version >= 8]:
        for label, member, epoch in (
            ("member", "m", now),
            ("nobody", None, -1),
            ("stale", "m", now - 1),
            ("newer", "m", now + 1),
            ("unknown", "x", now),
            ("no epoch", "m", -1),
            ("epoch alone", None, now),
        ):
            asker: dict[str, Any] = {"member_id": member, "member_epoch": epoch}
            play.fetch(f"fetch: {label} {version}", group, [(topic, [0])], version, **asker)
            play.fetch(f"fetch all: {label} {version}", group, None, version, **asker)
    play.delete_offsets("subscribed", group, topic)
    play.settle()
    play.enter("another", group, "n", topic)
    play.beat("is to give up", group, "m", owned={topic: [0, 1]})
    play.beat("gave up", group, "m", owned={topic: [0]})
    for partition in (0, 1):
        for epoch in (now, play.epoch_of(group, "m")):
            label = f"partition {partition} in epoch {epoch - now}"
            play.commit(label, group, [(topic, partition, 8)], epoch, "m")
    play.commit("both in epoch 0", group, [(topic, 0, 6), (topic, 1, 6)], now, "m")
    play.fetch("of both", group, None)
    play.beat("another leaves", group, "n", -1)
    play.beat("leaves", group, "m", -1)
    play.delete_offsets("empty", group, topic)
    play.commit("nobody, empty", group, [(topic, 0, 9)])
    play.commit("somebody, empty", group, [(topic, 0, 9)], now, "m")
    play.fetch("in the end", group, None)


def beside_classic_groups(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    modern, classic, simple = play.text("m"), play.text("c"), play.text("s")
    play.enter("modern", modern, "m", topic)
    for version in play.versions(ApiKey.DESCRIBE_GROUPS):
        play.describe(f"as classic {version}", modern, version=version)
    for version in play.versions(ApiKey.LIST_GROUPS):
        play.list(f"list {version}", version)
    for kind in ("consumer", "classic", "Consumer"):
        play.list(f"type {kind}", 5, [], [kind])
    for state in ("Stable", "assigning", "Reconciling"):
        play.list(f"state {state}", 5, [state])
    play.heartbeat("classic heartbeat", modern, play.epoch_of(modern, "m"), "m")
    play.sync("classic sync", modern, play.epoch_of(modern, "m"), "m")
    play.leave("classic leave", modern, ("x", None))
    play.commit("simple", simple, [(topic, 0, 3)])
    play.consumer_groups("simple", simple)
    play.enter("takes over a simple group", simple, "m", topic)
    play.fetch("its offsets", simple, None)
    play.list("taken over")
    member = play.join("classic", classic, protocols=(("x", b"\xff"),)).member_id
    play.enter("into a classic group", classic, "m", topic)
    play.sync("classic", classic, 1, member, protocol_name="x")
    play.leave("classic leaves", classic, (member, None))
    play.enter("into an empty classic group", classic, "m", topic)
    play.list("taken over as well")
    play.beat("modern leaves", modern, "m", -1)
    play.call("no member", ApiKey.JOIN_GROUP, 3, play.join_request(modern, "bogus"))
    play.join("into an empty consumer group", modern)
    play.list("taken back")
    play.consumer_groups("taken back", modern)


SCENARIOS = (
    bad_heartbeats,
    one_member,
    two_members,
    rebalance_expires,
    subscriptions,
    expressions,
    static_members,
    offsets,
    beside_classic_groups,
)
