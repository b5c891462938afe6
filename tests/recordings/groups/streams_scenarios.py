"""Streams groups (KIP-1071): members run tasks of a topology."""

from collections.abc import Sequence
from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.groups.modern_play import ModernPlay

HEARTBEAT = ApiKey.STREAMS_GROUP_HEARTBEAT
FIRST_DELAY_MS = 3500
"""A little more than a broker's delay before the first assignment."""
SETTING_TWICE: dict[str, Any] = {"topic_configs": [{"key": "retention.ms", "value": "1"}] * 2}
BAD_TOPICS: dict[str, dict[str, Any]] = {
    "replicas": {"replication_factor": 99},
    "no replicas": {"replication_factor": -1},
    "setting": {"topic_configs": [{"key": "no.setting", "value": "1"}]},
    "value": {"topic_configs": [{"key": "retention.ms", "value": "x"}]},
    "twice": SETTING_TWICE,
}


def subtopology(
    name: str,
    sources: Sequence[str],
    *,
    repartition: Sequence[str] = (),
    sinks: Sequence[str] = (),
    changelogs: Sequence[str] = (),
) -> dict[str, Any]:
    return {
        "subtopology_id": name,
        "source_topics": list(sources),
        "repartition_sink_topics": list(sinks),
        "repartition_source_topics": [{"name": topic} for topic in repartition],
        "state_changelog_topics": [{"name": topic} for topic in changelogs],
    }


def topology(*subtopologies: dict[str, Any], epoch: int = 0) -> dict[str, Any]:
    return {"epoch": epoch, "subtopologies": list(subtopologies)}


def tasks(**partitions: Sequence[int]) -> list[dict[str, Any]]:
    return [{"subtopology_id": name, "partitions": list(at)} for name, at in partitions.items()]


def bad_heartbeats(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    plain = topology(subtopology("s", [topic]))
    play.start("no member id", group, "", plain)
    play.start("no group id", "", "m", plain)
    play.start("no instance id", group, "m", plain, instance_id="")
    play.start("an instance id", group, "m", plain, instance_id="i")
    play.start("no rack id", group, "m", plain, rack_id="")
    play.start("no timeout", group, "m", plain, rebalance_timeout_ms=-1)
    play.start("no process", group, "m", plain, process_id=None)
    play.start("empty process", group, "m", plain, process_id="")
    play.start("no topology", group, "m", None)
    play.start("null active tasks", group, "m", plain, active_tasks=None)
    play.start("null standby tasks", group, "m", plain, standby_tasks=None)
    play.start("null warmup tasks", group, "m", plain, warmup_tasks=None)
    play.start("active tasks", group, "m", plain, active_tasks=tasks(s=[0]))
    play.start("no subtopologies", play.text("e"), "m", topology())
    play.start("no sources", play.text("f"), "m", topology(subtopology("s", [])))
    play.run("epoch -3", group, "m", -3)
    play.run("a while", group, "m", -2)
    play.run("leaving no group", play.text("x"), "m", -1)
    play.run("unknown group", play.text("x"), "m", 5)
    play.start("joins", group, "m", plain)
    play.run("unknown member", group, "x", 1)
    play.run("leaving unknown", group, "x", -1)
    play.run("null tasks in part", group, "m", active_tasks=tasks(s=[0]))


def bad_topologies(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    for label, bad in {
        "illegal source": subtopology("s", ["a/b"]),
        "empty source": subtopology("s", [""]),
        "kafka's source": subtopology("s", ["__consumer_offsets"]),
        "kafka's sink": subtopology("s", [topic], sinks=["__transaction_state"]),
        "illegal changelog": subtopology("s", [topic], changelogs=["a/b"]),
        "unknown sink": subtopology("s", [topic], sinks=[play.text("-nowhere")]),
    }.items():
        play.start(label, play.text(label.replace(" ", "").replace("'", "")), "m", topology(bad))
    twice = topology(subtopology("s", [topic]), subtopology("s", [topic]))
    play.start("the same twice", play.text("twice"), "m", twice)


def one_member(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    plain = topology(subtopology("s", [topic]))
    play.start("joins", group, "m", plain)
    play.streams_groups("joined", group)
    play.list("joined")
    play.peer.pause(FIRST_DELAY_MS)
    play.run("assigned", group, "m")
    play.streams_groups("assigned", group)
    play.run("says nothing", group, "m")
    full: dict[str, Any] = {
        "active_tasks": tasks(s=[0, 1]),
        "standby_tasks": [],
        "warmup_tasks": [],
    }
    play.run("runs them", group, "m", **full)
    for ahead in (1, 6, -1):
        play.run(f"{ahead} ahead", group, "m", ahead=ahead, **full)
    play.start("joins again", group, "m", plain)
    play.run("other process", group, "m", process_id="other")
    play.run("endpoint", group, "m", user_endpoint={"host": "h", "port": 9})
    play.run("endpoint, once more", group, "m")
    play.describe("as classic", group, version=6)
    play.commit("commit", group, [(topic, 0, 5)], play.epoch_of(group, "m"), "m")
    play.commit("of nobody", group, [(topic, 0, 6)])
    play.commit("of an older version", group, [(topic, 0, 7)], 2, "m", version=8)
    play.fetch("fetch", group, [(topic, [0])])
    play.delete_offsets("subscribed", group, topic)
    play.delete("not empty", group)
    play.run("shuts down", group, "m", shutdown_application=True)
    play.run("after that", group, "m")
    play.run("leaves", group, "m", -1)
    play.streams_groups("left", group)
    play.list("left", types=["streams"])
    play.delete("empty", group)
    play.streams_groups("deleted", group, play.text("none"), "")


def two_members(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    plain = topology(subtopology("s", [topic]))
    none: dict[str, Any] = {"active_tasks": [], "standby_tasks": [], "warmup_tasks": []}
    play.start("a joins", group, "a", plain, process_id="pa")
    play.peer.pause(FIRST_DELAY_MS)
    play.run("a, all", group, "a", **none)
    both = none | {"active_tasks": tasks(s=[0, 1])}
    play.run("a runs all", group, "a", **both)
    play.start("b joins", group, "b", plain, process_id="pb")
    play.settle()
    play.run("b has to wait", group, "b", **none)
    response = play.run("a is to give up", group, "a", **both)
    play.streams_groups("a is to give up", group)
    kept = [0]
    if not isinstance(response, str) and response.active_tasks:
        kept = list(response.active_tasks[0].partitions)
    play.run("a gave up", group, "a", **none | {"active_tasks": tasks(s=kept)})
    play.run("b takes it", group, "b", **none)
    play.streams_groups("b took it", group)
    play.run("a leaves", group, "a", -1)
    play.settle()
    play.run("b takes all", group, "b", **none | {"active_tasks": tasks(s=[1 - kept[0]])})
    play.streams_groups("b has all", group)


def missing_sources(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    missing = play.text("-later")
    group = play.text("g")
    play.start("joins", group, "m", topology(subtopology("s", [missing])))
    play.streams_groups("joined", group)
    play.peer.pause(FIRST_DELAY_MS)
    play.run("still missing", group, "m")
    play.topic("later", partitions=1)
    play.peer.pause(FIRST_DELAY_MS)
    play.run("it is made", group, "m")
    play.settle()
    play.run("then", group, "m")
    play.streams_groups("then", group)


def internal_topics(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    middle, log = play.text("-middle"), play.text("-log")
    first = subtopology("s0", [topic], sinks=[middle])
    second = subtopology("s1", [], repartition=[middle], changelogs=[log])
    play.start("joins", group, "m", topology(first, second))
    play.peer.pause(FIRST_DELAY_MS)
    play.run("made", group, "m")
    play.settle()
    play.run("then", group, "m")
    for name in (middle, log):
        request = {"topics": [{"name": name}], "allow_auto_topic_creation": False}
        response = play.ask(ApiKey.METADATA, 9, request)
        play.steps.append((name[-4:], [len(topic.partitions) for topic in response.topics]))
    play.streams_groups("then", group)


def internal_topics_that_cannot_be_made(play: ModernPlay) -> None:
    """The group is not ready while one of its internal topics is rejected."""
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    play.topic("old.log")
    similar = {"name": play.text("-old_log")}
    for label, wrong in (BAD_TOPICS | {"similar": similar}).items():
        group = play.text(label.replace(" ", ""))
        part = subtopology("s", [topic])
        good = {"name": f"{group}-good"}
        part["state_changelog_topics"] = [good, {"name": f"{group}-bad"} | wrong]
        play.start(f"{label}: joins", group, "m", topology(part))
        play.peer.pause(FIRST_DELAY_MS)
        play.run(f"{label}: once more", group, "m")
        play.streams_groups(f"{label}: described", group)
        play.list(f"{label}: listed", types=["streams"])
    group, later = play.text("sourceless"), play.text("-later")
    part = subtopology("s", [later])
    part["state_changelog_topics"] = [{"name": f"{group}-bad"} | SETTING_TWICE]
    play.start("sourceless: joins", group, "m", topology(part))
    play.topic("later")
    play.peer.pause(FIRST_DELAY_MS)
    play.run("sourceless: has a source", group, "m")
    play.streams_groups("sourceless: described", group)


def topology_changes(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    first, second = play.topic("t", "u", partitions=1)
    group = play.text("g")
    play.start("joins", group, "m", topology(subtopology("s", [first])))
    play.peer.pause(FIRST_DELAY_MS)
    play.run("assigned", group, "m")
    play.start("another topology", group, "n", topology(subtopology("s", [second])))
    play.start("a newer topology", group, "o", topology(subtopology("s", [second]), epoch=1))
    play.settle()
    play.run("after that", group, "m")
    play.streams_groups("after that", group)
    (new,) = play.topic("v", partitions=1)
    group = play.text("h")
    play.start("in epoch 1", group, "m", topology(subtopology("s", [new]), epoch=1))
    play.start("in epoch 0", group, "n", topology(subtopology("s", [new]), epoch=0))
    play.streams_groups("in the end", group)


def beside_other_groups(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    plain = topology(subtopology("s", [topic]))
    classic, simple, streams = play.text("c"), play.text("s"), play.text("x")
    play.commit("simple", simple, [(topic, 0, 3)])
    play.start("into a simple group", simple, "m", plain)
    play.fetch("its offsets", simple, None)
    play.join("classic", classic)
    play.start("into a classic group", classic, "m", plain)
    play.start("streams", streams, "m", plain)
    play.enter("a consumer", streams, "c", topic)
    play.join("classic into streams", streams)
    play.run("leaves", streams, "m", -1)
    play.enter("a consumer, empty", streams, "c", topic)
    play.list("in the end")


def looked_at_by_heartbeats(play: ModernPlay) -> None:
    """A group notices changes of its topics only in heartbeats of members."""
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    group, log = play.text("g"), play.text("-log")
    play.start("joins", group, "m", topology(subtopology("s", [topic], changelogs=[log])))
    _describe(play, "joined", group)
    play.peer.pause(FIRST_DELAY_MS)
    _describe(play, "the log is made", group)
    _beat_and_describe(play, "knows the log", group)
    _widen(play, topic, 5)
    _describe(play, "a wider source", group)
    _beat_and_describe(play, "knows the wider source", group)
    _widen(play, log, 5)
    _describe(play, "a wider log", group)
    _beat_and_describe(play, "knows the wider log", group)
    play.delete_topic(log)
    _describe(play, "the log is gone", group)
    _beat_and_describe(play, "misses the log", group)
    play.peer.pause(FIRST_DELAY_MS)
    _beat_and_describe(play, "has the log again", group)
    play.run("leaves", group, "m", -1)
    _describe(play, "left", group)
    play.delete_topic(topic)
    _describe(play, "the source is gone", group)
    play.list("the source is gone")


def two_missing_sources(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    first, second, log = play.text("-one"), play.text("-two"), play.text("-log")
    group = play.text("g")
    part = subtopology("s", [first, second], changelogs=[log])
    play.start("joins", group, "m", topology(part))
    _describe(play, "joined", group)
    play.topic("one")
    play.peer.pause(FIRST_DELAY_MS)
    _beat_and_describe(play, "one", group)
    play.topic("two")
    play.peer.pause(FIRST_DELAY_MS)
    _describe(play, "two", group)
    _beat_and_describe(play, "knows two", group)
    play.peer.pause(FIRST_DELAY_MS)
    _beat_and_describe(play, "knows the log", group)


def _describe(play: ModernPlay, label: str, group: str) -> None:
    play.settle()
    play.streams_groups(f"{label}: described", group)


def _beat_and_describe(play: ModernPlay, label: str, group: str) -> None:
    """Send two heartbeats; the second one has the tasks that the first response assigned."""
    first = play.run(f"{label}: once", group, "m")
    play.settle()
    told: dict[str, Any] = {}
    if not isinstance(first, str) and first.active_tasks is not None:
        has = {task.subtopology_id: task.partitions for task in first.active_tasks}
        told = {"active_tasks": tasks(**has), "standby_tasks": [], "warmup_tasks": []}
    play.run(f"{label}: twice", group, "m", **told)
    play.settle()
    play.streams_groups(f"{label}: described", group)


def _widen(play: ModernPlay, topic: str, partitions: int) -> None:
    request = {
        "topics": [{"name": topic, "count": partitions, "assignments": None}],
        "timeout_ms": 9000,
    }
    response = play.ask(ApiKey.CREATE_PARTITIONS, 3, request)
    assert response.results[0].error_code == 0, response


SCENARIOS = (
    bad_heartbeats,
    bad_topologies,
    one_member,
    two_members,
    missing_sources,
    internal_topics,
    internal_topics_that_cannot_be_made,
    looked_at_by_heartbeats,
    two_missing_sources,
    topology_changes,
    beside_other_groups,
)
