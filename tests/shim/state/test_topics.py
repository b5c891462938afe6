"""Topics: found by name and by id, grown, altered, moved and deleted."""

import random

from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.state.topics import DELETED_NAMES_MAX, Topics


def topics() -> Topics:
    return Topics(random.Random(7), ManualClock())


def test_a_topic_is_found_by_its_name_and_its_id_until_it_is_deleted() -> None:
    all_topics = topics()
    topic = all_topics.create_topic("orders", [[1], [2]], {"retention.ms": "1"})
    assert all_topics.get("orders") is topic
    assert all_topics.by_id(topic.topic_id) is topic
    assert [topic.name for topic in all_topics] == ["orders"]
    assert all_topics.partition_count == 2
    all_topics.delete_topic("orders")
    assert all_topics.partition_count == 0
    assert "orders" not in all_topics
    assert all_topics.get("orders") is None
    assert all_topics.by_id(topic.topic_id) is None
    assert not all_topics.names_colliding_in_metrics("or.ders")


def test_the_number_of_kept_names_of_deleted_topics_is_limited() -> None:
    """Changes of a topic are noticed even after its name was dropped."""
    all_topics = topics()
    count = DELETED_NAMES_MAX + 2
    before = all_topics.epoch
    for number in range(count):
        all_topics.create_topic(f"made.{number}", [[1]], {})
        all_topics.delete_topic(f"made.{number}")
    kept = sum(len(part) for part in vars(all_topics).values() if isinstance(part, dict))
    assert kept == 2 * DELETED_NAMES_MAX  # by name, and by id
    assert all_topics.any_may_have_changed_since(before, ["made.0"])
    assert all_topics.any_may_have_changed_since(before, [f"made.{count - 1}"])
    assert not all_topics.any_may_have_changed_since(
        all_topics.epoch, ["made.0", f"made.{count - 1}"]
    )
    all_topics.create_topic("made.0", [[1]], {})
    assert all_topics.any_may_have_changed_since(all_topics.epoch - 1, ["made.0"])


def test_a_recreated_topic_has_another_id() -> None:
    all_topics = topics()
    first = all_topics.create_topic("orders", [[1]], {}).topic_id
    all_topics.delete_topic("orders")
    second = all_topics.create_topic("orders", [[1]], {}).topic_id
    assert first != second
    assert {first[6] >> 4, second[6] >> 4} == {4}  # random UUIDs


def test_partitions_are_led_by_their_first_replica() -> None:
    all_topics = topics()
    topic = all_topics.create_topic("orders", [[3, 1], []], {})
    assert [partition.leader_id for partition in topic.partitions] == [3, -1]
    all_topics.add_partitions(topic, [[2]])
    assert [partition.index for partition in topic.partitions] == [0, 1, 2]
    assert topic.led_partition(2) is topic.partitions[2]
    assert topic.led_partition(3) is None
    assert topic.led_partition(-1) is None
    assert all_topics.led_partition("orders", 0) is topic.partitions[0]
    assert all_topics.led_partition("missing", 0) is None


def test_names_that_differ_only_in_dots_and_underscores_collide() -> None:
    all_topics = topics()
    for name in ("a.b", "a_b", "a-b"):
        all_topics.create_topic(name, [[1]], {})
    assert all_topics.names_colliding_in_metrics("a_b") == ["a.b"]
    assert all_topics.names_colliding_in_metrics("a.b") == ["a_b"]
    assert all_topics.names_colliding_in_metrics("a-b") == []


def test_only_topics_of_coordinators_are_internal() -> None:
    all_topics = topics()
    assert all_topics.create_topic("__consumer_offsets", [[1]], {}).is_internal
    assert not all_topics.create_topic("__mine", [[1]], {}).is_internal


def test_logs_see_altered_settings() -> None:
    all_topics = topics()
    topic = all_topics.create_topic("orders", [[1]], {"retention.ms": "1"})
    seen = topic.configs
    all_topics.replace_configs(topic, {"segment.ms": "2"})
    assert seen == {"segment.ms": "2"}


def test_a_new_leader_has_a_higher_epoch() -> None:
    all_topics = topics()
    partition = all_topics.create_topic("orders", [[1, 2]], {}).partitions[0]
    epoch = all_topics.epoch
    all_topics.elect_leader(partition, 2)
    assert (partition.leader_id, partition.leader_epoch) == (2, 1)
    assert all_topics.epoch > epoch


def test_a_new_leader_changes_its_topic_only() -> None:
    all_topics = topics()
    partition = all_topics.create_topic("orders", [[1, 2]], {}).partitions[0]
    all_topics.create_topic("other", [[1, 2]], {})
    epoch, changed = all_topics.epoch, list[str]()
    all_topics.when_changed = changed.append
    all_topics.elect_leader(partition, 2)
    all_topics.set_in_sync_replicas(partition, [2])
    all_topics.replace_replicas(partition, [1])
    assert set(changed) == {"orders"}
    assert all_topics.any_may_have_changed_since(epoch, ["orders"])
    assert not all_topics.any_may_have_changed_since(epoch, ["other"])


def test_a_moved_partition_keeps_its_leader_if_it_can() -> None:
    all_topics = topics()
    partition = all_topics.create_topic("orders", [[1, 2]], {}).partitions[0]
    all_topics.replace_replicas(partition, [3, 1])
    assert (partition.leader_id, partition.leader_epoch) == (1, 0)
    all_topics.replace_replicas(partition, [3, 2])
    assert (partition.leader_id, partition.leader_epoch) == (3, 1)
    assert partition.isr == [3, 2]
