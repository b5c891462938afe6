"""The records of consumer, share and streams groups in `__consumer_offsets`."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.groups.group_log_scenarios import GroupLog
from tests.recordings.groups.modern_play import ModernPlay
from tests.recordings.groups.share_play import A, B
from tests.recordings.groups.streams_scenarios import subtopology, tasks, topology

EXPIRED_MS = 5_000
SETTINGS = {
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": "3000",
    "group.consumer.min.heartbeat.interval.ms": "500",
    "group.consumer.heartbeat.interval.ms": "1000",
}


def consumer_members(play: ModernPlay) -> None:
    """Members join, get partitions, change their subscription, commit and leave."""
    if not play.has(ApiKey.CONSUMER_GROUP_HEARTBEAT):
        return
    first, second = play.topic("t", "u")
    log = GroupLog(play, has_members=True)
    group = play.text("g")
    play.enter("a joins", group, "a", first, rack_id="r")
    log.look("a joined")
    play.beat("a again", group, "a", owned={first: [0, 1]})
    log.look("a is stable")
    play.settle()
    play.enter("b joins", group, "b", first)
    log.look("b joined")
    play.beat("a revokes", group, "a", owned={first: [0, 1]})
    log.look("a revokes")
    play.beat("a has revoked", group, "a", owned={first: [0]})
    log.look("a has revoked")
    play.beat("b gets more", group, "b", owned={})
    log.look("b gets more")
    play.settle()
    play.beat("a subscribes", group, "a", subscribed_topic_names=[first, second])
    log.look("a subscribed")
    play.beat("a is served", group, "a")
    log.look("a is served")
    epoch = play.epoch_of(group, "a")
    play.commit("commits", group, [(first, 0, 3)], epoch, "a")
    log.look("committed")
    play.settle()
    play.beat("b leaves", group, "b", -1)
    log.look("b left")
    play.beat("a gets all", group, "a")
    log.look("a gets all")
    play.beat("a leaves", group, "a", -1)
    log.look("a left")
    play.delete("the group", group)
    log.look("deleted")


def consumer_static_members(play: ModernPlay) -> None:
    """A static member leaves for a while and is replaced; another one times out."""
    if not play.has(ApiKey.CONSUMER_GROUP_HEARTBEAT):
        return
    (topic,) = play.topic("t")
    log = GroupLog(play, has_members=True)
    group = play.text("g")
    static: dict[str, Any] = {"instance_id": "i"}
    play.enter("joins", group, "a", topic, server_assignor="range", **static)
    log.look("joined")
    play.beat("goes", group, "a", -2, **static)
    log.look("gone for a while")
    play.enter("comes back", group, "b", topic, server_assignor="range", **static)
    log.look("came back")
    play.peer.pause(EXPIRED_MS)
    log.look("timed out")
    play.delete("the group", group)
    log.look("deleted")


def consumer_expressions(play: ModernPlay) -> None:
    """Members subscribe by regular expressions, which are resolved later."""
    if not play.has(ApiKey.CONSUMER_GROUP_HEARTBEAT, 1):
        return
    first, _ = play.topic("t", "u")
    log = GroupLog(play, has_members=True)
    group = play.text("g")
    expression = f"{play.name}-.*"
    play.enter("joins", group, "a", subscribed_topic_regex=expression)
    log.look("joined", 1_000)
    play.settle()
    play.beat("is served", group, "a")
    log.look("served")
    play.settle()
    play.beat("narrows", group, "a", subscribed_topic_regex=first)
    log.look("narrowed", 1_000)
    play.beat("is served again", group, "a")
    log.look("served again")
    play.beat("leaves", group, "a", -1)
    log.look("left")


def classic_and_consumer(play: ModernPlay) -> None:
    """A group of classic members is upgraded by a consumer member, and downgraded again."""
    if not play.has(ApiKey.CONSUMER_GROUP_HEARTBEAT):
        return
    (topic,) = play.topic("t")
    log = GroupLog(play, has_members=True)
    group = play.text("g")
    member = play.join("classic", group, protocol_type="consumer").member_id
    play.sync("classic", group, 1, member)
    play.leave("classic", group, (member, None))
    log.look("classic")
    play.enter("enters the empty one", group, "m", topic)
    log.look("entered")
    play.beat("leaves", group, "m", -1)
    log.look("left")
    play.join("classic again", group)
    log.look("classic again")


def share_members(play: ModernPlay) -> None:
    """Members of a share group join, get partitions and leave; the group is deleted."""
    if not play.has(ApiKey.SHARE_GROUP_HEARTBEAT):
        return
    first, second = play.topic("t", "u")
    log = GroupLog(play, has_members=True)
    group = play.text("g")
    play.share("a joins", group, A, 0, [first], rack_id="r")
    log.look("a joined", 4_000)
    play.settle()
    play.share("a is served", group, A)
    log.look("a is served")
    play.share("a again", group, A)
    log.look("nothing new")
    play.settle()
    play.share("a subscribes", group, A, topics=[first, second])
    log.look("a subscribed", 1_000)
    play.settle()
    play.share("a gets it", group, A)
    log.look("a gets it")
    play.settle()
    play.share("b joins", group, B, 0, [first])
    log.look("b joined")
    play.share("a leaves", group, A, -1)
    log.look("a left")
    play.settle()
    play.share("b gets it", group, B)
    log.look("b gets it")
    play.share("b leaves", group, B, -1)
    log.look("b left")
    play.delete("the group", group)
    log.look("deleted", 1_000)


def streams_members(play: ModernPlay) -> None:
    """Members of a streams group join, get tasks and leave; the group is deleted."""
    if not play.has(ApiKey.STREAMS_GROUP_HEARTBEAT):
        return
    first, second = play.topic("t", "u")
    log = GroupLog(play, has_members=True)
    group = play.text("g")
    plan = topology(
        subtopology("s", [first], changelogs=[play.text("-log")]), subtopology("r", [second])
    )
    more: dict[str, Any] = {
        "client_tags": [{"key": "zone", "value": "z"}],
        "user_endpoint": {"host": "h", "port": 9},
        "rack_id": "r",
    }
    play.start("a joins", group, "a", plan, **more)
    log.look("a joined", 4_000)
    play.run("a is served", group, "a")
    log.look("a is served")
    play.settle()
    owned: dict[str, Any] = {"standby_tasks": [], "warmup_tasks": []}
    play.run("a owns", group, "a", active_tasks=tasks(s=[0, 1], r=[0, 1]), **owned)
    log.look("nothing new")
    play.start("b joins", group, "b", plan)
    log.look("b joined")
    play.run("a revokes", group, "a", active_tasks=tasks(s=[0, 1], r=[0, 1]), **owned)
    log.look("a revokes")
    play.run("a has revoked", group, "a", active_tasks=tasks(s=[0], r=[0]), **owned)
    log.look("a has revoked")
    play.run("b gets more", group, "b", active_tasks=[], **owned)
    log.look("b gets more")
    play.settle()
    play.run("a leaves", group, "a", -1)
    log.look("a left")
    play.run("b gets all", group, "b")
    log.look("b gets all")
    play.run("b leaves", group, "b", -1)
    log.look("b left")
    play.delete("the group", group)
    log.look("deleted")


SCENARIOS = (
    consumer_members,
    consumer_static_members,
    consumer_expressions,
    classic_and_consumer,
    share_members,
    streams_members,
)
OWN_SETTINGS: dict[str, dict[str, str]] = {
    f"member_log-{scenario.__name__}": {} for scenario in SCENARIOS
} | {"member_log-consumer_static_members": SETTINGS}
"""Each has a broker of its own, so that offsets of records count."""
