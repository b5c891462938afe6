"""Static members of streams groups (4.4), missing client tags, and assignors."""

from collections.abc import Mapping
from typing import Any

from kafka_shim.protocol.enums import ApiKey, ConfigResourceType
from tests.recordings.groups.modern_play import ModernPlay
from tests.recordings.groups.streams_scenarios import (
    FIRST_DELAY_MS,
    HEARTBEAT,
    subtopology,
    tasks,
    topology,
)

KNOWN_MS = 1_000


def configure(
    play: ModernPlay,
    label: str,
    group: str,
    value: str | None,
    *,
    name: str = "streams.rack.aware.assignment.tags",
) -> None:
    """Set one of a group's settings; None removes it."""
    config = {"name": name, "config_operation": int(value is None), "value": value}
    resource = {
        "resource_type": int(ConfigResourceType.GROUP),
        "resource_name": group,
        "configs": [config],
    }
    request = {"resources": [resource]}
    play.call(f"{label}: set", ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, request)
    play.peer.pause(KNOWN_MS)


NONE: Mapping[str, Any] = {"active_tasks": [], "standby_tasks": [], "warmup_tasks": []}
SESSION_MS = 46_000


def static_member(play: ModernPlay) -> None:
    if not _has_static_members(play):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    plain = topology(subtopology("s", [topic]))
    play.start("joins", group, "m", plain, instance_id="i")
    play.peer.pause(FIRST_DELAY_MS)
    play.run("assigned", group, "m", instance_id="i")
    play.run("runs", group, "m", instance_id="i", **_runs(0, 1))
    play.streams_groups("assigned", group)
    play.run("without its instance", group, "m")
    play.run("unknown instance", group, "m", instance_id="j")
    play.run("another member", group, "n", 1, instance_id="i")
    play.run("unknown both", group, "n", 1, instance_id="j")
    play.run("too new", group, "m", ahead=1, instance_id="i")
    play.run("too old", group, "m", 1, instance_id="i")
    play.start("another joins", group, "n", plain, instance_id="i")
    play.start("joins again", group, "m", plain, instance_id="i")
    play.start("joins again without", group, "m", plain)
    _leaves(play, group)
    play.streams_groups("away", group)
    play.run("away", group, "m", 1, instance_id="i")
    play.run("away, its own epoch", group, "m", -2, instance_id="i")
    play.start("back", group, "m", plain, instance_id="i")
    play.streams_groups("back", group)
    play.run("back, next", group, "m", instance_id="i")
    play.run("leaves for good", group, "m", -1, instance_id="i", shutdown_application=True)
    play.streams_groups("left", group)
    play.start("a new one", group, "o", plain, instance_id="i")


def _leaves(play: ModernPlay, group: str) -> None:
    play.run("no instance, a while", group, "m", -2)
    play.run("unknown instance, a while", group, "m", -2, instance_id="j")
    play.run("another member, a while", group, "n", -2, instance_id="i")
    play.run("unknown instance leaves", group, "m", -1, instance_id="j")
    play.run("another member leaves", group, "n", -1, instance_id="i")
    play.run("a while", group, "m", -2, instance_id="i")


def static_member_replaced(play: ModernPlay) -> None:
    if not _has_static_members(play):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    plain = topology(subtopology("s", [topic]))
    play.start("a joins", group, "a", plain, instance_id="i", process_id="pa")
    play.peer.pause(FIRST_DELAY_MS)
    play.run("a assigned", group, "a", instance_id="i", **NONE)
    play.run("a runs", group, "a", instance_id="i", **_runs(0, 1))
    play.start("b joins", group, "b", plain, instance_id="j", process_id="pb")
    play.settle()
    play.run("b has to wait", group, "b", instance_id="j", **NONE)
    play.run("a is to give up", group, "a", instance_id="i", **_runs(0, 1))
    play.run("a gave up", group, "a", instance_id="i", **_runs(0))
    play.run("b takes it", group, "b", instance_id="j", **NONE)
    play.run("b runs it", group, "b", instance_id="j", **_runs(1))
    play.streams_groups("assigned", group)
    before = play.epoch_of(group, "a")
    play.run("a is away", group, "a", -2, instance_id="i")
    play.run("b meanwhile", group, "b", instance_id="j")
    play.start("c in its place", group, "c", plain, instance_id="i", process_id="pa")
    play.streams_groups("c in its place", group)
    play.run("a is fenced", group, "a", 2, instance_id="i")
    play.run("a leaves, fenced", group, "a", -1, instance_id="i")
    play.run("a without its instance", group, "a", 2)
    play.run("c goes on", group, "c", instance_id="i")
    named: dict[str, Any] = {"group_instance_id": "i"}
    play.commit("c in an older epoch", group, [(topic, 0, 5)], before - 1, "c", **named)
    play.commit("c, what it has not", group, [(topic, 1, 5)], before - 1, "c", **named)
    play.run("b after that", group, "b", instance_id="j")
    play.run("c is away", group, "c", -2, instance_id="i")
    more = {"instance_id": "i", "process_id": "pd"}
    play.settle()
    play.start("d, another process", group, "d", plain, **more)
    play.settle()
    play.streams_groups("d, another process", group)
    play.run("d goes on", group, "d", instance_id="i")
    play.run("b goes on", group, "b", instance_id="j")
    play.run("d goes on again", group, "d", instance_id="i")
    play.streams_groups("in the end", group)
    play.run("d is away", group, "d", -2, instance_id="i")
    play.start("an endpoint", group, "e", plain, user_endpoint={"host": "h", "port": 9}, **more)
    play.streams_groups("an endpoint", group)


def static_member_away(play: ModernPlay) -> None:
    """A static member is removed when its session expires; its tasks and offsets until then."""
    if not _has_static_members(play):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    plain = topology(subtopology("s", [topic]))
    play.start("joins", group, "m", plain, instance_id="i")
    play.peer.pause(FIRST_DELAY_MS)
    play.run("assigned", group, "m", instance_id="i", **NONE)
    epoch = play.epoch_of(group, "m")
    instance: dict[str, Any] = {"group_instance_id": "i"}
    play.commit("commit", group, [(topic, 0, 5)], epoch, "m", **instance)
    play.commit("another instance", group, [(topic, 0, 6)], epoch, "m", group_instance_id="j")
    play.run("a while", group, "m", -2, instance_id="i")
    play.commit("away", group, [(topic, 0, 7)], epoch, "m", **instance)
    play.commit("away, its own epoch", group, [(topic, 0, 8)], -2, "m", **instance)
    play.fetch("fetch", group, [(topic, [0])])
    play.delete("not empty", group)
    play.list("away")
    play.peer.pause(SESSION_MS)
    play.streams_groups("too long", group)
    play.run("too late", group, "m", epoch, instance_id="i")
    play.list("too long")


def static_member_revoking(play: ModernPlay) -> None:
    """A static member that leaves temporarily loses the tasks that are not in its target."""
    if not _has_static_members(play):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    plain = topology(subtopology("s", [topic]))
    play.start("a joins", group, "a", plain, instance_id="i", process_id="pa")
    play.peer.pause(FIRST_DELAY_MS)
    play.run("a has all", group, "a", instance_id="i", **NONE)
    play.run("a runs all", group, "a", instance_id="i", **_runs(0, 1))
    play.start("b joins", group, "b", plain, instance_id="j", process_id="pb")
    play.settle()
    play.run("b has to wait", group, "b", instance_id="j", **NONE)
    play.run("a is to give up", group, "a", instance_id="i", **_runs(0, 1))
    play.streams_groups("a is to give up", group)
    instance: dict[str, Any] = {"group_instance_id": "i"}
    for epoch in (1, 2, 3):
        for partition in (0, 1):
            told = [(topic, partition, 5)]
            play.commit(f"a in {epoch}, {partition}", group, told, epoch, "a", **instance)
    play.run("a is away", group, "a", -2, instance_id="i")
    play.streams_groups("a is away", group)
    play.run("b, a is away", group, "b", instance_id="j", **NONE)
    play.streams_groups("b, a is away", group)
    play.start("a is back", group, "a", plain, instance_id="i", process_id="pa")
    play.streams_groups("a is back", group)
    play.run("a leaves", group, "a", -1, instance_id="i")
    play.settle()
    play.run("b takes all", group, "b", instance_id="j")
    play.streams_groups("b takes all", group)


def static_beside_dynamic(play: ModernPlay) -> None:
    if not _has_static_members(play):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    plain = topology(subtopology("s", [topic]))
    play.start("dynamic", group, "m", plain)
    play.start("an instance of its own", group, "m", plain, instance_id="i")
    play.streams_groups("an instance of its own", group)
    play.start("a second instance", group, "m", plain, instance_id="j")
    play.streams_groups("a second instance", group)
    play.run("the first instance", group, "m", instance_id="i")
    play.run("the second instance", group, "m", instance_id="j")
    play.run("leaves without", group, "m", -1)
    play.streams_groups("left", group)
    play.run("unknown group", play.text("x"), "m", -2, instance_id="i")
    play.run("unknown group, staying", play.text("x"), "m", 3, instance_id="i")


def reported_tasks(play: ModernPlay) -> None:
    """Offsets and warm-up tasks can be reported; unknown tasks are rejected."""
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    plain = topology(subtopology("s", [topic]))
    offsets = [{"subtopology_id": "s", "partition": 0, "offset": 7}]
    play.start("joins", group, "m", plain, task_offsets=offsets, task_end_offsets=offsets)
    play.streams_groups("joins", group)
    play.peer.pause(FIRST_DELAY_MS)
    play.run("assigned", group, "m", **NONE)
    play.run("offsets", group, "m", task_offsets=offsets, task_end_offsets=offsets)
    play.streams_groups("offsets", group)
    play.run("other offsets", group, "m", task_offsets=[])
    play.streams_groups("other offsets", group)
    strange = [{"subtopology_id": "x", "partition": 9, "offset": -1}]
    play.run("strange offsets", group, "m", task_offsets=strange, task_end_offsets=strange)
    play.streams_groups("strange offsets", group)
    for kind in ("active", "standby", "warmup"):
        field = f"{kind}_tasks"
        play.run(f"{kind}", group, "m", **{**NONE, field: tasks(s=[0])})
        play.run(f"{kind} of no subtopology", group, "m", **{**NONE, field: tasks(x=[0])})
        play.run(f"{kind} of no partition", group, "m", **{**NONE, field: tasks(s=[2])})
        play.run(f"{kind} below", group, "m", **{**NONE, field: tasks(s=[-1])})
    expression = subtopology("s", [topic]) | {"source_topic_regex": ["a.*"]}
    play.start("an expression", play.text("h"), "m", topology(expression))


def client_tags(play: ModernPlay) -> None:
    if not _has_static_members(play):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    plain = topology(subtopology("s", [topic]))
    play.start("no tags wanted", group, "m", plain)
    play.peer.pause(FIRST_DELAY_MS)
    play.run("assigned", group, "m", **NONE)
    play.run("runs", group, "m", **_runs(0, 1))
    configure(play, "zone wanted", group, "zone")
    play.run("zone wanted", group, "m")
    play.streams_groups("zone wanted", group)
    play.run("in version 0", group, "m", version=0)
    play.run("has a zone", group, "m", client_tags=_tags(zone="a"))
    play.settle()
    play.run("has a zone, next", group, "m")
    configure(play, "two wanted", group, " zone , rack ")
    play.run("two wanted", group, "m")
    play.settle()
    play.run("two wanted, next", group, "m")
    play.run("other tags", group, "m", client_tags=_tags(other="b"))
    play.run("has both", group, "m", client_tags=_tags(rack="b", zone="c"))
    play.run("tags are empty", group, "m", client_tags=[])
    play.run("the same twice", group, "m", client_tags=[*_tags(zone="a"), *_tags(zone="b")])
    play.start("joins without", group, "n", plain)
    play.start("joins with", group, "o", plain, client_tags=_tags(rack="x", zone="y"))
    play.run("leaves", group, "o", -1)
    for value in ("zone,zone", "zone,,rack", ",", "", "a b", None):
        configure(play, f"{value}", group, value)
        play.run(f"{value}", group, "m")
    play.streams_groups("in the end", group)
    stale = play.text("h")
    configure(play, "of the other", stale, "zone")
    nowhere = subtopology("s", [topic, play.text("-nowhere")])
    last = {"shutdown_application": True}
    play.start("beside other statuses", stale, "m", topology(nowhere, epoch=1), **last)
    play.run("says it again", stale, "m", **last)
    play.start("stale, and all others", stale, "n", topology(nowhere))


def endpoints(play: ModernPlay) -> None:
    """The partitions of the tasks at each endpoint (KIP-1071)."""
    if not play.has(HEARTBEAT):
        return
    first, second = play.topic("t", "u", partitions=2)
    group, nowhere = play.text("g"), play.text("-nowhere")
    plain = topology(subtopology("s", [first, second]))
    a: dict[str, Any] = {"user_endpoint": {"host": "a", "port": 9}}
    play.start("joins", group, "a", plain, process_id="pa", **a)
    play.run("once more", group, "a")
    play.peer.pause(FIRST_DELAY_MS)
    play.run("assigned", group, "a", **NONE)
    play.run("runs", group, "a", **_runs(0, 1))
    for epoch in (1, 2, -1):
        play.run(f"knows {epoch}", group, "a", endpoint_information_epoch=epoch)
    play.run("the same", group, "a", **a)
    play.settle()
    play.run("another port", group, "a", user_endpoint={"host": "a", "port": 65535})
    play.run("another port, next", group, "a")
    play.settle()
    play.start("b joins without", group, "b", plain, process_id="pb")
    play.run("a, b has joined", group, "a", **_runs(0, 1))
    play.run("a gave up", group, "a", **_runs(0))
    play.run("b, next", group, "b", **NONE)
    play.settle()
    play.run("b, an endpoint", group, "b", user_endpoint={"host": "b", "port": 1})
    play.run("a, b has one", group, "a")
    play.settle()
    play.start("a joins again without", group, "a", plain, process_id="pa")
    play.run("a leaves", group, "a", -1)
    play.settle()
    play.run("b alone", group, "b", **_runs(1))
    play.run("b alone, next", group, "b", **_runs(0, 1))
    play.start("misses a topic", play.text("h"), "m", topology(subtopology("s", [nowhere])), **a)


def assignor_settings(play: ModernPlay) -> None:
    if not _has_static_members(play):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    plain = topology(subtopology("s", [topic]))
    play.start("joins", group, "m", plain)
    play.peer.pause(FIRST_DELAY_MS)
    play.run("assigned", group, "m", **NONE)
    for name, values in {
        "streams.assignor.name": ("sticky", "Sticky", "", "highly_available", None),
        "streams.num.standby.replicas": ("2", "3", "-1", "1", None),
        "streams.num.warmup.replicas": ("1", "100", "0", "-1", None),
        "streams.task.offset.interval.ms": ("20000", "14999", "15000", "0", None),
        "streams.acceptable.recovery.lag": ("5", "-1", "0", "9223372036854775807", None),
        "streams.assignor.offload.enable": ("true", "maybe", "false", None),
        "streams.assignment.interval.ms": ("0", "15001", "-1", "15000", None),
        "streams.initial.rebalance.delay.ms": ("0", "-1", "600000", None),
        "streams.heartbeat.interval.ms": ("7000", "4999", "15001", None),
        "streams.session.timeout.ms": ("50000", "44999", "60001", None),
    }.items():
        for value in values:
            configure(play, f"{name}={value}", group, value, name=name)
            play.run(f"{name}={value}", group, "m")
            play.streams_groups(f"{name}={value}", group)
        play.settle()
        play.run(f"after {name}", group, "m")


def _has_static_members(play: ModernPlay) -> bool:
    return play.has(HEARTBEAT, 1)


def _runs(*partitions: int) -> dict[str, Any]:
    return {**NONE, "active_tasks": tasks(s=list(partitions))}


def _run_them(
    play: ModernPlay, label: str, group: str, member: str, instance: str, response: Any
) -> None:
    """Send a heartbeat with the tasks that the previous response assigned."""
    found = None if isinstance(response, str) else response.active_tasks
    partitions = [at for task in found or () for at in task.partitions]
    play.run(label, group, member, instance_id=instance, **_runs(*partitions))


def _tags(**tags: str) -> list[dict[str, str]]:
    return [{"key": key, "value": value} for key, value in tags.items()]


SCENARIOS = (
    static_member,
    static_member_replaced,
    static_member_away,
    static_member_revoking,
    static_beside_dynamic,
    reported_tasks,
    client_tags,
    endpoints,
    assignor_settings,
)
