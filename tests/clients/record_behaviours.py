"""Tests that produce, consume and fetch offsets with minimal rights; each client inherits them."""

from typing import ClassVar

import pytest

from tests.clients.driver import ClientError, Driver
from tests.clients.stage import Stage

TOPIC_AUTHORIZATION_FAILED = 29
GROUP_AUTHORIZATION_FAILED = 30
CLUSTER_AUTHORIZATION_FAILED = 31

VALUES = ["one", "two", "three"]


class RecordBehaviours:
    """Minimal rights, with KIP-163 and KIP-679. Class variables describe how clients differ."""

    consuming_a_hidden_topic: ClassVar[int | None] = TOPIC_AUTHORIZATION_FAILED
    """Error code for a consumer without DESCRIBE on its topic; None: it waits without an error."""

    withheld_offset: ClassVar[str] = "29 for the partition"
    """How the client reports a fetch of an offset whose topic the user may not describe."""

    @pytest.mark.parametrize("idempotent", [False, True], ids=["plain", "idempotent"])
    @pytest.mark.parametrize("pattern_type", ["LITERAL", "PREFIXED"])
    def test_write_on_the_topic_is_enough_to_produce(
        self, driver: Driver, stage: Stage, pattern_type: str, idempotent: bool
    ) -> None:
        topic = stage.topic()
        name = topic if pattern_type == "LITERAL" else stage.name
        stage.grant("alice", "WRITE", "TOPIC", name, pattern_type=pattern_type)
        assert driver.produce(topic, VALUES, "alice", idempotent) == [0, 1, 2]
        assert driver.produce(topic, VALUES[:1], "alice", idempotent) == [3]

    @pytest.mark.parametrize("idempotent", [False, True], ids=["plain", "idempotent"])
    def test_producing_to_a_hidden_topic_is_denied(
        self, driver: Driver, stage: Stage, idempotent: bool
    ) -> None:
        hidden = stage.topic("hidden")
        # With this right an idempotent producer gets its id, and only the topic is denied.
        stage.grant("alice", "WRITE", "TOPIC", stage.topic("other"))
        with pytest.raises(ClientError) as denied:
            driver.produce(hidden, VALUES, "alice", idempotent)
        assert denied.value.code == TOPIC_AUTHORIZATION_FAILED

    def test_producing_with_describe_only_is_denied(self, driver: Driver, stage: Stage) -> None:
        topic = stage.topic()
        stage.grant("carol", "DESCRIBE", "TOPIC", topic)
        with pytest.raises(ClientError) as denied:
            driver.produce(topic, VALUES, "carol")
        assert denied.value.code == TOPIC_AUTHORIZATION_FAILED

    def test_an_idempotent_producer_needs_write_on_some_topic(
        self, driver: Driver, stage: Stage
    ) -> None:
        topic = stage.topic()
        stage.grant("carol", "DESCRIBE", "TOPIC", topic)
        with pytest.raises(ClientError) as denied:
            driver.produce(topic, VALUES, "carol", idempotent=True)
        assert denied.value.code == CLUSTER_AUTHORIZATION_FAILED

    def test_deny_beats_allow(self, driver: Driver, stage: Stage) -> None:
        topic = stage.topic()
        stage.grant("alice", "ALL", "TOPIC", topic)
        stage.grant("alice", "WRITE", "TOPIC", stage.name, pattern_type="PREFIXED",
                    permission="DENY")  # fmt: skip
        with pytest.raises(ClientError) as denied:
            driver.produce(topic, VALUES, "alice")
        assert denied.value.code == TOPIC_AUTHORIZATION_FAILED

    @pytest.mark.parametrize("pattern_type", ["LITERAL", "PREFIXED"])
    def test_read_on_topic_and_group_is_enough_to_consume(
        self, driver: Driver, stage: Stage, pattern_type: str
    ) -> None:
        topic, group = stage.topic(), stage.group()
        literal = pattern_type == "LITERAL"
        for resource_type, name in (("TOPIC", topic), ("GROUP", group)):
            stage.grant("alice", "READ", resource_type, name if literal else stage.name,
                        pattern_type=pattern_type)  # fmt: skip
        driver.produce(topic, VALUES, None)
        assert driver.consume(topic, group, len(VALUES), "alice") == VALUES
        assert driver.offset_fetch(group, topic, None) == {f"{topic}-0": len(VALUES)}

    def test_consuming_without_the_group_is_denied(self, driver: Driver, stage: Stage) -> None:
        topic, group = stage.topic(), stage.group()
        stage.grant("alice", "READ", "TOPIC", topic)
        driver.produce(topic, VALUES, None)
        with pytest.raises(ClientError) as denied:
            driver.consume(topic, group, len(VALUES), "alice")
        assert denied.value.code == GROUP_AUTHORIZATION_FAILED

    def test_consuming_with_describe_only_is_denied(self, driver: Driver, stage: Stage) -> None:
        topic, group = stage.topic(), stage.group()
        stage.grant("alice", "READ", "GROUP", group)
        stage.grant("alice", "DESCRIBE", "TOPIC", topic)
        driver.produce(topic, VALUES, None)
        with pytest.raises(ClientError) as denied:
            driver.consume(topic, group, len(VALUES), "alice")
        assert denied.value.code == TOPIC_AUTHORIZATION_FAILED

    def test_consuming_a_hidden_topic_is_denied(self, driver: Driver, stage: Stage) -> None:
        topic, group = stage.topic(), stage.group()
        stage.grant("alice", "READ", "GROUP", group)
        driver.produce(topic, VALUES, None)
        seconds = 20 if self.consuming_a_hidden_topic else 3
        with pytest.raises(ClientError) as denied:
            driver.consume(topic, group, len(VALUES), "alice", seconds)
        assert denied.value.code == self.consuming_a_hidden_topic

    @pytest.mark.parametrize("whole_group", [False, True], ids=["topic", "whole group"])
    def test_describe_is_enough_to_fetch_offsets(
        self, driver: Driver, stage: Stage, whole_group: bool
    ) -> None:
        topic, group = stage.topic(), stage.group()
        driver.commit_offset(group, topic, 7)
        stage.grant("alice", "DESCRIBE", "GROUP", group)
        stage.grant("alice", "DESCRIBE", "TOPIC", topic)
        asked = None if whole_group else topic
        assert driver.offset_fetch(group, asked, "alice") == {f"{topic}-0": 7}

    def test_offsets_of_a_denied_group_are_refused(self, driver: Driver, stage: Stage) -> None:
        topic, group = stage.topic(), stage.group()
        driver.commit_offset(group, topic, 7)
        stage.grant("alice", "READ", "TOPIC", topic)
        with pytest.raises(ClientError) as refused:
            driver.offset_fetch(group, topic, "alice")
        assert refused.value.code == GROUP_AUTHORIZATION_FAILED

    def test_offsets_of_a_denied_topic_are_withheld(self, driver: Driver, stage: Stage) -> None:
        shown, hidden, group = stage.topic("shown"), stage.topic("hidden"), stage.group()
        driver.commit_offset(group, shown, 7)
        driver.commit_offset(group, hidden, 8)
        stage.grant("alice", "READ", "GROUP", group)
        stage.grant("alice", "DESCRIBE", "TOPIC", shown)
        assert driver.offset_fetch(group, None, "alice") == {f"{shown}-0": 7}
        assert _withheld(driver, group, hidden) == self.withheld_offset


def _withheld(driver: Driver, group: str, topic: str) -> str:
    """Describe what alice's client reports when she fetches the offset of partition 0."""
    try:
        found = driver.offset_fetch(group, topic, "alice").get(f"{topic}-0")
    except ClientError as refused:
        return f"{refused.code} for the request"
    if found is None:
        return "left out"
    return f"{found.code} for the partition" if isinstance(found, ClientError) else f"told: {found}"
