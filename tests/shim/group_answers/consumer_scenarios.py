"""Consumer groups (KIP-848)."""

from protocol.enums import ApiKey
from tests.shim.group_answers.modern_play import ModernPlay

HEARTBEAT = ApiKey.CONSUMER_GROUP_HEARTBEAT


def bad_heartbeats(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    for version in play.versions(HEARTBEAT):
        group = play.text(f"v{version}")
        new = {"version": version}
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
    play.beat("says nothing", group, "m", 1)
    play.beat("owns it", group, "m", 1, owned={topic: [0, 1]})
    play.beat("owns a part", group, "m", 1, owned={topic: [0]})
    full = {"rebalance_timeout_ms": 10_000, "subscribed_topic_names": [topic]}
    play.beat("in full", group, "m", 1, owned={topic: [0, 1]}, **full)
    play.beat("topics again", group, "m", 1, subscribed_topic_names=[topic])
    for epoch in (2, 7):
        play.beat(f"epoch {epoch}", group, "m", epoch, owned={topic: [0, 1]})
    play.beat("previous epoch", group, "m", 0, owned={topic: [0, 1]})
    play.enter("joins again", group, "m", topic)
    play.consumer_groups("joined again", group)
    play.delete("not empty", group)
    play.beat("leaves", group, "m", -1)
    play.consumer_groups("left", group)
    play.list("left")
    play.beat("left", group, "m", 1)
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
    play.beat("a owns all", group, "a", 1, owned={topic: [0, 1]})
    play.enter("b joins", group, "b", topic)
    play.consumer_groups("b joined", group)
    play.beat("b has to wait", group, "b", 2, owned={})
    answer = play.beat("a is to give up", group, "a", 1)
    play.consumer_groups("a is to give up", group)
    play.beat("a does not tell", group, "a", 1)
    play.beat("a still owns all", group, "a", 1, owned={topic: [0, 1]})
    kept = list(answer.assignment.topic_partitions[0].partitions)
    play.beat("a owns the rest", group, "a", 1, owned={topic: kept})
    play.consumer_groups("a gave up", group)
    play.beat("a's answer was lost", group, "a", 1, owned={topic: kept})
    play.beat("b takes it", group, "b", 2)
    play.consumer_groups("b took it", group)
    play.beat("b owns it", group, "b", 2, owned={topic: [1 - kept[0]]})
    play.beat("a leaves", group, "a", -1)
    play.consumer_groups("a left", group)
    play.beat("b takes all", group, "b", 2, owned={topic: [1 - kept[0]]})
    play.consumer_groups("b has all", group)


def rebalance_expires(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    play.enter("a joins", group, "a", topic, rebalance_timeout_ms=2000)
    play.beat("a owns all", group, "a", 1, owned={topic: [0, 1]})
    play.enter("b joins", group, "b", topic)
    play.beat("a is to give up", group, "a", 1)
    play.peer.pause(1000)
    play.beat("a keeps all", group, "a", 1, owned={topic: [0, 1]})
    play.peer.pause(1500)
    play.beat("a is out", group, "a", 1)
    play.beat("b takes all", group, "b", 2)
    play.consumer_groups("in the end", group)


def subscriptions(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    one, two = play.topic("t", "u")
    missing = play.text("-later")
    group = play.text("g")
    play.enter("to one and a missing one", group, "m", one, missing)
    play.beat("to both", group, "m", 1, subscribed_topic_names=[one, two])
    play.beat("owns both", group, "m", 2, owned={one: [0, 1], two: [0, 1]})
    play.beat("to the second", group, "m", 2, subscribed_topic_names=[two])
    play.beat("owns both still", group, "m", 2, owned={one: [0, 1], two: [0, 1]})
    play.beat("owns the second", group, "m", 2, owned={two: [0, 1]})
    play.consumer_groups("to the second", group)
    play.beat("to a missing one", group, "m", 3, subscribed_topic_names=[two, missing])
    play.topic("later", partitions=1)
    play.peer.pause(500)
    for epoch in (4, 5):
        play.beat(f"it is made {epoch}", group, "m", epoch, owned={two: [0, 1]})
    play.consumer_groups("it is made", group)
    play.beat("range", group, "m", 5, server_assignor="range")
    play.consumer_groups("range", group)
    play.beat("to nothing", group, "m", 6, subscribed_topic_names=[])
    play.consumer_groups("to nothing", group)


def expressions(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT, 1):
        return
    one, two = play.topic("t", "u", partitions=1)
    group = play.text("g")
    plain = {"subscribed_topic_names": None}
    play.enter("broken", group, "m", subscribed_topic_regex="(", **plain)
    play.enter("empty", play.text("e"), "m", subscribed_topic_regex="", **plain)
    play.enter("both", play.text("b"), "m", one, subscribed_topic_regex=f"{two}.*")
    request = {"subscribed_topic_regex": play.text("-[tx]"), **plain}
    play.ask(HEARTBEAT, 1, _joining(group, request))
    play.peer.pause(1000)
    settled = play.ask(HEARTBEAT, 1, _joining(group, request))
    play.peer.pause(500)
    play.beat("in full", group, "m", settled.member_epoch, owned={}, rebalance_timeout_ms=9000)
    play.fetch("nothing committed", group, None)


def _joining(group: str, more: dict[str, object]) -> dict[str, object]:
    return {
        "group_id": group,
        "member_id": "m",
        "rebalance_timeout_ms": 10_000,
        "topic_partitions": [],
    } | more


def static_members(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    one = {"instance_id": "i1"}
    play.enter("joins", group, "a", topic, **one)
    play.beat("owns it", group, "a", 1, owned={topic: [0, 1]}, **one)
    play.beat("without instance", group, "a", 1)
    play.enter("somebody else", group, "b", topic, **one)
    play.beat("another id", group, "b", 1, **one)
    play.beat("another id leaves", group, "b", -1, **one)
    play.enter("a second", group, "c", topic, instance_id="i2")
    play.beat("leaves for a while", group, "a", -2, **one)
    play.consumer_groups("away", group)
    play.beat("is heard, away", group, "a", 1, **one)
    play.enter("is back", group, "d", topic, **one)
    play.consumer_groups("is back", group)
    play.beat("the old id", group, "a", 1, **one)
    play.beat("leaves for good", group, "d", -1, **one)
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
    for version in [one for one in play.versions(ApiKey.OFFSET_COMMIT) if one > 0]:
        for label, who in (
            ("member", (1, "m")),
            ("nobody", (-1, "")),
            ("stale", (0, "m")),
            ("newer", (2, "m")),
            ("unknown", (1, "x")),
            ("no epoch", (-1, "m")),
        ):
            play.commit(f"{label} {version}", group, [(topic, 0, 7)], *who, version=version)
    for version in [one for one in play.versions(ApiKey.OFFSET_FETCH) if one >= 8]:
        for label, member, epoch in (
            ("member", "m", 1),
            ("nobody", None, -1),
            ("stale", "m", 0),
            ("newer", "m", 2),
            ("unknown", "x", 1),
            ("no epoch", "m", -1),
            ("epoch alone", None, 1),
        ):
            who = {"member_id": member, "member_epoch": epoch}
            play.fetch(f"fetch: {label} {version}", group, [(topic, [0])], version, **who)
            play.fetch(f"fetch all: {label} {version}", group, None, version, **who)
    play.delete_offsets("subscribed", group, topic)
    play.beat("leaves", group, "m", -1)
    play.delete_offsets("empty", group, topic)
    play.commit("nobody, empty", group, [(topic, 0, 9)])
    play.commit("somebody, empty", group, [(topic, 0, 9)], 1, "m")
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
    play.heartbeat("classic heartbeat", modern, 1, "m")
    play.sync("classic sync", modern, 1, "m")
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
