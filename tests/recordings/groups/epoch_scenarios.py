"""Consumer groups (KIP-848): causes of a new group epoch, and members that rejoin."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.groups.modern_play import ModernPlay

HEARTBEAT = ApiKey.CONSUMER_GROUP_HEARTBEAT


def subscribing_to_nothing(play: ModernPlay) -> None:
    """Members join that subscribe to no topics, or only to a missing one."""
    if not play.has(HEARTBEAT):
        return
    missing = play.text("missing")
    for first in ((), (missing,)):
        group = play.text(f"g{len(first)}")
        play.enter(f"a joins with {len(first)}", group, "a", *first)
        play.consumer_groups("a joined", group)
        for number, second in enumerate(((), (missing,))):
            play.settle()
            play.enter(f"b joins with {number}", group, "b", *second)
            play.consumer_groups("b joined", group)
            play.beat("b leaves", group, "b", -1)
        play.beat("a leaves", group, "a", -1)
        play.consumer_groups("all left", group)
        play.settle()
        play.enter("a is back", group, "a", *first)
        play.consumer_groups("a is back", group)


def instance_of_nothing(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    group = play.text("g")
    for number, names in enumerate(((), (play.text("missing"),), ())):
        play.settle()
        play.enter(f"instance {number}", group, f"m{number}", *names, instance_id=f"i{number}")
        play.consumer_groups(f"after {number}", group)


def joining_again(play: ModernPlay) -> None:
    """Members send epoch 0 although they have joined already."""
    if not play.has(HEARTBEAT):
        return
    first, second = play.topic("t", "u")
    group = play.text("g")
    for number, topic in enumerate((first, first, second, first, first)):
        play.settle()
        play.enter(f"a, the {number}. time", group, "a", topic)
    play.enter("b joins", group, "b", first)
    play.settle()
    play.enter("b, again", group, "b", first)
    play.enter("a, again", group, "a", first)
    play.consumer_groups("in the end", group)


def given_back(play: ModernPlay) -> None:
    """A member gets a partition back that it should revoke, before it has revoked it."""
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t", partitions=3)
    for kept in ([0, 1], [0, 1, 2]):
        group = play.text(f"g{len(kept)}")
        label = f"{len(kept)} kept"
        play.enter(f"{label}: a joins", group, "a", topic)
        play.beat(f"{label}: a owns all", group, "a", owned={topic: [0, 1, 2]})
        play.settle()
        play.enter(f"{label}: b joins", group, "b", topic)
        play.settle()
        play.beat(f"{label}: a is to give up", group, "a")
        play.beat(f"{label}: b leaves", group, "b", -1)
        play.settle()
        play.beat(f"{label}: a gave up or not", group, "a", owned={topic: kept})
        play.consumer_groups(f"{label}: gave up or not", group)
        play.settle()
        play.beat(f"{label}: a, next", group, "a", owned={topic: kept})
        play.consumer_groups(f"{label}: next", group)


def strange_topics(play: ModernPlay) -> None:
    """Topics without subscribers are created, also before a regular expression is evaluated."""
    if not play.has(HEARTBEAT, 1):
        return
    (topic,) = play.topic("t")
    group, owned = play.text("g"), {topic: [0, 1]}
    matching: dict[str, Any] = {"subscribed_topic_regex": play.text("-t")}
    matching["subscribed_topic_names"] = None
    play.enter("joins", group, "m", **matching)
    play.settle()
    play.beat("matched", group, "m", owned={})
    play.settle()
    play.beat("owns it", group, "m", owned=owned)
    play.topic("x")
    play.settle()
    play.beat("a strange topic", group, "m", owned=owned)
    play.consumer_groups("a strange topic", group)
    play.topic("y")
    play.beat("another expression", group, "m", subscribed_topic_regex=play.text("-[tu]"))
    play.consumer_groups("another expression", group)
    play.topic("z")
    play.settle()
    play.beat("another strange topic", group, "m")
    play.consumer_groups("another strange topic", group)


def other_expression(play: ModernPlay) -> None:
    """A member that changes its expression while a newer target waits."""
    if not play.has(HEARTBEAT, 1):
        return
    first, _ = play.topic("ta", "tb")
    for label, expression in (("all", "-t.*"), ("one", "-ta.*"), ("none", "-none.*")):
        group = play.text(f"-{label}")
        matching: dict[str, Any] = {"subscribed_topic_regex": play.text("-t[ab]")}
        matching["subscribed_topic_names"] = None
        play.enter(f"{label}: joins", group, "m", **matching)
        play.settle()
        play.beat(f"{label}: matched", group, "m")
        play.settle()
        play.enter(f"{label}: another joins", group, "n", first)
        play.beat(
            f"{label}: another expression",
            group,
            "m",
            subscribed_topic_regex=play.text(expression),
        )
        for at in range(3):
            play.settle()
            play.beat(f"{label}: {at}", group, "m")
            play.consumer_groups(f"{label}: {at}", group)


def expression_without_topics(play: ModernPlay) -> None:
    """A new expression that matches no topic begins an epoch, since the old one's topics went."""
    if not play.has(HEARTBEAT, 1):
        return
    play.topic("ta", "tb")
    group = play.text("g")
    matching: dict[str, Any] = {"subscribed_topic_regex": play.text("-t[ab]")}
    matching["subscribed_topic_names"] = None
    play.enter("joins", group, "m", **matching)
    play.settle()
    play.beat("another expression", group, "m", subscribed_topic_regex=play.text("-none"))
    for at in range(3):
        play.settle()
        play.beat(f"then {at}", group, "m")
        play.consumer_groups(f"then {at}", group)


def subscribes_while_revoking(play: ModernPlay) -> None:
    """A member changes its subscription before it has revoked partitions."""
    if not play.has(HEARTBEAT):
        return
    first, second = play.topic("t", "u")
    for suffix, change, owned in (
        ("none", {"subscribed_topic_names": []}, None),
        ("other", {"subscribed_topic_names": [second]}, {first: [0, 1]}),
        ("other-revoked", {"subscribed_topic_names": [second]}, {first: [0]}),
        ("other-nothing", {"subscribed_topic_names": [second]}, {}),
        ("both", {"subscribed_topic_names": [first, second]}, {first: [0, 1]}),
    ):
        group = play.text(f"g-{suffix}")
        play.enter(f"{suffix}: a joins", group, "a", first)
        play.beat(f"{suffix}: a has all", group, "a", owned={first: [0, 1]})
        play.settle()
        play.enter(f"{suffix}: b joins", group, "b", first)
        play.beat(f"{suffix}: a has to revoke", group, "a", owned={first: [0, 1]})
        play.beat(f"{suffix}: a subscribes", group, "a", owned=owned, **change)
        play.consumer_groups(f"{suffix}: changed", group)
        play.beat(f"{suffix}: b waits", group, "b")
        play.beat(f"{suffix}: a still has all", group, "a", owned={first: [0, 1]})
        play.beat(f"{suffix}: a has nothing", group, "a", owned={})
        play.beat(f"{suffix}: b gets more", group, "b", owned={})
        play.settle()
        play.beat(f"{suffix}: a again", group, "a", owned={})
        play.beat(f"{suffix}: b again", group, "b")
        play.consumer_groups(f"{suffix}: in the end", group)


SCENARIOS = (
    subscribing_to_nothing,
    instance_of_nothing,
    joining_again,
    given_back,
    strange_topics,
    other_expression,
    expression_without_topics,
    subscribes_while_revoking,
)
