"""Groups on the coordinator of KIP-848, which brokers of 3.7 to 3.9 have if it is enabled."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.groups.classic_play import ClassicPlay
from tests.recordings.groups.modern_play import ModernPlay
from tests.recordings.groups.offsets_in_transactions import Transaction

HEARTBEAT = ApiKey.CONSUMER_GROUP_HEARTBEAT


def transactions_of_members(play: ModernPlay) -> None:
    """Members of a consumer group commit in transactions; rejected commits leave no group."""
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    play.enter("joins", group, "m", topic)
    transaction = Transaction(play)
    transaction.add(group)
    now = play.epoch_of(group, "m")
    for version in (3, 4):
        for label, who in {
            "live member": (now, "m"),
            "newer epoch": (now + 1, "m"),
            "older epoch": (now - 1, "m"),
            "no epoch": (-1, "m"),
            "nobody": (-1, ""),
            "epoch alone": (now, ""),
            "unknown": (now, "x"),
        }.items():
            transaction.commit(f"{label}, {version}", group, topic, 5, *who, version=version)
            play.consumer_groups(f"after {label}, {version}", group)
    transaction.end(committed=True)
    play.fetch("ended", group, None)
    for version in play.versions(ApiKey.OFFSET_COMMIT)[1:]:
        missing = play.text(f"-missing{version}")
        play.commit(f"missing group {version}", missing, [(topic, 0, 5)], 3, "m", version=version)
    play.list("in the end")


def static_members_removed(play: ModernPlay) -> None:
    """LeaveGroup of static members of a consumer group, by member and by instance id."""
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    for name in "abc":
        play.enter(f"{name} joins", group, name, topic, instance_id=f"i{name}")
    play.leave("by instance", group, ("", "ia"))
    play.leave("by both", group, ("b", "ib"))
    play.leave("another instance", group, ("c", "ib"))
    play.leave("by member", group, ("c", None))
    play.consumer_groups("in the end", group)


def several_described(play: ModernPlay) -> None:
    """ConsumerGroupDescribe of live, missing, denied and repeated groups."""
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    live, other = play.text("-live"), play.text("-other")
    classic, missing = play.text("-classic"), play.text("-missing")
    play.enter("joins", live, "m", topic)
    play.enter("joins another", other, "m", topic)
    play.commit("classic", classic, [(topic, 0, 1)])
    play.consumer_groups("one", live)
    play.consumer_groups("live and missing", live, missing)
    play.consumer_groups("missing and live", missing, live)
    play.consumer_groups("all", live, other, classic, missing)
    play.consumer_groups("twice", live, live)
    play.consumer_groups("none")


def described_in_rebalance(play: ClassicPlay) -> None:
    """DescribeGroups while a group rebalances, and of a group with only a pending member."""
    group, pending = play.text("g"), play.text("-pending")
    first = play.join("joins", group).member_id
    play.sync("syncs", group, 1, first, assignments={first: b"work"})
    play.describe("stable", group)
    play.begin_join(group, "b")
    play.peer.pause(300)
    play.describe("rebalancing", group)
    play.list("rebalancing")
    play.begin_join(group, "c", first)
    play.outcome("first rejoins", "c")
    play.outcome("second joins", "b")
    play.describe("completing", group)
    request = play.join_request(pending)
    play.call("pending", ApiKey.JOIN_GROUP, 5, request)
    for version in play.versions(ApiKey.DESCRIBE_GROUPS):
        play.describe(f"pending {version}", pending, version=version)
    play.list("pending")
    play.delete("pending", pending)
    play.fetch("pending", pending, None)


def mixed_subscriptions(play: ModernPlay) -> None:
    """Uniform: one of two members subscribes to a further topic."""
    if not play.has(HEARTBEAT):
        return
    first, second = play.topic("t", "u")
    group = play.text("g")
    play.enter("a joins", group, "a", first)
    play.beat("a owns it", group, "a", owned={first: [0, 1]})
    play.settle()
    play.enter("b joins", group, "b", first, second)
    response = play.beat("a gives up", group, "a", owned={first: [0, 1]})
    kept: dict[str, list[int]] = {}
    if response is not None and response.assignment is not None:
        for row in response.assignment.topic_partitions:
            kept[first] = list(row.partitions)
    play.beat("a gave up", group, "a", owned=kept)
    play.beat("b takes it", group, "b")
    play.consumer_groups("b took it", group)
    play.settle()
    play.beat("b subscribes to one", group, "b", subscribed_topic_names=[second])
    play.beat("a keeps", group, "a")
    play.consumer_groups("apart", group)
    play.settle()
    play.beat("a subscribes to both", group, "a", subscribed_topic_names=[first, second])
    play.beat("b beats", group, "b")
    play.consumer_groups("in the end", group)


def rejected_transactions(play: ClassicPlay) -> None:
    """A commit that is rejected because of its producer leaves no group, or an empty one."""
    (topic,) = play.topic("t")
    transaction = Transaction(play)
    transaction.add(play.text("-added"))
    for version in play.versions(ApiKey.TXN_OFFSET_COMMIT):
        for label, change in _PRODUCERS.items():
            group = play.text(f"-{label}{version}")
            row = {"partition_index": 0, "committed_offset": 5, "committed_metadata": ""}
            request: dict[str, Any] = transaction.identity | {
                "group_id": group,
                "generation_id_or_member_epoch": -1,
                "topics": [{"name": topic, "partitions": [row]}],
            }
            play.call(f"{label} {version}", ApiKey.TXN_OFFSET_COMMIT, version, request | change)
            play.describe(f"{label} {version}", group)
            play.fetch(f"{label} {version}", group, [(topic, [0])])
    play.list("in the end")


_PRODUCERS: dict[str, dict[str, Any]] = {
    "notadded": {},
    "otherproducer": {"producer_id": 987_654},
    "otherepoch": {"producer_epoch": 77},
    "otherid": {"transactional_id": "another"},
    "noproducer": {"producer_id": -1, "producer_epoch": -1},
}

SCENARIOS = (
    transactions_of_members,
    static_members_removed,
    several_described,
    described_in_rebalance,
    mixed_subscriptions,
    rejected_transactions,
)
