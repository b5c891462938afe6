"""Topology descriptions, which a plugin of the broker stores (KIP-1331, 4.4)."""

from collections.abc import Sequence
from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.groups.modern_play import NEWEST, ModernPlay
from tests.recordings.groups.streams_scenarios import (
    FIRST_DELAY_MS,
    HEARTBEAT,
    subtopology,
    tasks,
    topology,
)

UPDATE = ApiKey.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE
PLUGIN = "group.streams.topology.description.plugin.class"
IN_MEMORY = "org.apache.kafka.server.streams.InMemoryTopologyDescriptionPlugin"
BACKOFF_MS = 37_000
"""A little more than the first interval after which a broker requests a description again."""

SOURCE, PROCESSOR, SINK = 1, 2, 3


def node(name: str, kind: int, successors: Sequence[str] = (), **more: Any) -> dict[str, Any]:
    return {"name": name, "node_type": kind, "successors": list(successors)} | more


def described(*nodes: dict[str, Any], stores: Sequence[tuple[Any, Any]] = ()) -> dict[str, Any]:
    return {
        "subtopologies": [{"subtopology_id": "s", "nodes": list(nodes)}],
        "global_stores": [{"source": source, "processor": does} for source, does in stores],
    }


WHOLE = described(
    node("read", SOURCE, ["count", "count", "write"], source_topics=["t", "u", "t"]),
    node(
        "count", PROCESSOR, ["write"], stores=["b", "a", "b"], source_topics=["x"], sink_topic="y"
    ),
    node("write", SINK, sink_topic="out", stores=["z"]),
    node("anywhere", SINK, ["read"]),
    stores=[(node("g", SOURCE, source_topics=["global"]), node("keep", PROCESSOR, stores=["all"]))],
)


def update(
    play: ModernPlay, label: str, group: str, member: str, description: Any = WHOLE, epoch: int = 0
) -> None:
    request = {
        "group_id": group,
        "member_id": member,
        "topology_epoch": epoch,
        "topology_description": description,
    }
    play.call(label, UPDATE, NEWEST, request)


def look(play: ModernPlay, label: str, *groups: str) -> None:
    """Describe groups with their topologies."""
    request = {"group_ids": list(groups), "include_topology_description": True}
    play.call(label, ApiKey.STREAMS_GROUP_DESCRIBE, NEWEST, request)


def no_plugin(play: ModernPlay) -> None:
    if not play.has(UPDATE):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    play.start("joins", group, "m", topology(subtopology("s", [topic])))
    update(play, "told", group, "m")
    update(play, "by nobody", play.text("x"), "")
    look(play, "shown", group, play.text("x"))


def kept(play: ModernPlay) -> None:
    if not play.has(UPDATE):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    plain = topology(subtopology("s", [topic]))
    play.start("joins", group, "m", plain)
    look(play, "not told", group, play.text("x"), "")
    play.run("asked only once", group, "m")
    play.start("another", group, "n", plain)
    update(play, "told", group, "m")
    look(play, "told", group)
    play.streams_groups("not asked for", group)
    update(play, "told by another", group, "n", described())
    look(play, "told by another", group)
    play.run("no more", group, "m")
    play.peer.pause(BACKOFF_MS)
    play.run("no more, later", group, "m")
    play.run("leaves", group, "m", -1)
    play.run("leaves too", group, "n", -1)
    look(play, "of nobody", group)
    update(play, "told by who has left", group, "m")
    play.start("back", group, "m", plain)
    look(play, "back", group)
    play.run("leaves again", group, "m", -1)
    play.delete("deleted", group)
    look(play, "deleted", group)
    play.start("begins anew", group, "m", plain)
    look(play, "begins anew", group)


def refused(play: ModernPlay) -> None:
    if not play.has(UPDATE):
        return
    (topic,) = play.topic("t")
    group, classic = play.text("g"), play.text("c")
    play.start("joins", group, "m", topology(subtopology("s", [topic]), epoch=3))
    update(play, "unknown group", play.text("x"), "m", epoch=3)
    update(play, "unknown member", group, "x", epoch=3)
    update(play, "no member", group, "", epoch=3)
    update(play, "no group", "", "m", epoch=3)
    for epoch in (2, 4, -1):
        update(play, f"epoch {epoch}", group, "m", epoch=epoch)
    source, sink = node("a", SOURCE, source_topics=["t"]), node("b", SINK, sink_topic="t")
    work = node("c", PROCESSOR)
    for label, description in {
        "unknown kind": described(node("a", 0)),
        "another unknown kind": described(node("a", 4)),
        "negative kind": described(node("a", -1)),
        "a store of two sources": described(stores=[(source, source)]),
        "a store of two processors": described(stores=[(work, work)]),
        "a store that is a sink": described(stores=[(source, sink)]),
        "the other way round": described(stores=[(work, source)]),
        "an unknown kind in a store": described(stores=[(node("a", 9), work)]),
    }.items():
        update(play, label, group, "m", description, epoch=3)
    look(play, "nothing is kept", group)
    play.join("classic", classic)
    update(play, "to a classic group", classic, "m")
    look(play, "a classic group", classic)
    empty: dict[str, Any] = {"subtopologies": [], "global_stores": []}
    update(play, "an empty one", group, "m", empty, epoch=3)
    look(play, "an empty one", group)
    twice = described(source, source)
    update(play, "the same node twice", group, "m", twice, epoch=3)
    look(play, "the same node twice", group)


def asked_again(play: ModernPlay) -> None:
    """A broker without a description requests it again, at growing intervals."""
    if not play.has(UPDATE):
        return
    (topic,) = play.topic("t")
    group, other = play.text("g"), play.text("h")
    plain = topology(subtopology("s", [topic]), epoch=1)
    patient: dict[str, Any] = {"rebalance_timeout_ms": 300_000}
    play.start("joins", group, "m", plain, version=0, **patient)
    play.run("in version 1", group, "m")
    play.run("at once", group, "m")
    play.peer.pause(BACKOFF_MS)
    play.run("later, in version 0", group, "m", version=0)
    play.settle()
    play.start("later, stale", group, "n", topology(subtopology("s", [topic])), **patient)
    play.run("later", group, "m")
    play.run("later, at once", group, "m")
    play.peer.pause(BACKOFF_MS)
    play.run("not twice as late", group, "m")
    play.run("fails", group, "x", 1)
    play.start("leaves first", other, "m", plain)
    play.run("leaves", other, "m", -1)
    play.delete("deleted", other)
    play.start("begins anew, too soon", other, "m", plain)


def turned_classic(play: ModernPlay) -> None:
    """A classic member takes over an empty streams group."""
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    plain = topology(subtopology("s", [topic]))
    play.start("joins", group, "m", plain)
    play.peer.pause(FIRST_DELAY_MS)
    held: dict[str, Any] = {
        "active_tasks": tasks(s=[0, 1]),
        "standby_tasks": [],
        "warmup_tasks": [],
    }
    play.run("runs", group, "m", **held)
    if play.has(UPDATE):
        update(play, "told", group, "m")
    play.commit("commits", group, [(topic, 0, 5)], play.epoch_of(group, "m"), "m")
    play.join("while it runs", group)
    play.run("leaves", group, "m", -1)
    joined = play.join("classic", group)
    play.describe("classic", group, version=6)
    play.fetch("offsets", group, [(topic, [0])])
    look(play, "classic", group)
    play.start("while it is classic", group, "m", plain)
    play.leave("classic leaves", group, (joined.member_id, None))
    play.start("streams again", group, "m", plain)
    look(play, "streams again", group)


SETTINGS = {
    f"description-{scenario.__name__}": {PLUGIN: IN_MEMORY}
    for scenario in (kept, refused, asked_again)
}
"""Broker settings that a scenario needs."""

SCENARIOS = (no_plugin, kept, refused, asked_again, turned_classic)
