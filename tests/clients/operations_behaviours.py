"""Tests of authorized operations (KIP-430), which the test module of each client inherits."""

import pytest

from tests.clients.driver import ClientError, Driver
from tests.clients.stage import Stage

TOPIC_AUTHORIZATION_FAILED = 29
GROUP_AUTHORIZATION_FAILED = 30

ALL_OF_CLUSTER = {
    "CREATE", "ALTER", "DESCRIBE", "CLUSTER_ACTION", "DESCRIBE_CONFIGS", "ALTER_CONFIGS",
    "IDEMPOTENT_WRITE",
}  # fmt: skip
ALL_OF_TOPIC = {
    "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS",
}  # fmt: skip
ALL_OF_GROUP = {"READ", "DELETE", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"}

Grants = list[tuple[str, str]]
"""Permission and operation of each ACL the user gets on the resource."""


class OperationsBehaviours:
    """Operations that a user may perform on the cluster, topics and groups."""

    @pytest.mark.parametrize(
        ("grants", "operations"),
        [
            ([], set()),
            ([("ALLOW", "ALTER")], {"ALTER", "DESCRIBE"}),
            ([("ALLOW", "ALTER"), ("DENY", "DESCRIBE")], set()),
            ([("ALLOW", "CREATE")], set()),  # CREATE does not imply DESCRIBE, so none is returned
            ([("ALLOW", "CREATE"), ("ALLOW", "DESCRIBE")], {"CREATE", "DESCRIBE"}),
            ([("ALLOW", "ALL"), ("DENY", "CREATE")], ALL_OF_CLUSTER - {"CREATE"}),
        ],
    )
    def test_cluster_operations(
        self, driver: Driver, stage: Stage, grants: Grants, operations: set[str]
    ) -> None:
        for permission, operation in grants:
            stage.grant("bob", operation, "CLUSTER", "kafka-cluster", permission=permission)
        assert driver.cluster_operations("bob") == operations

    @pytest.mark.parametrize(
        ("grants", "operations"),
        [
            ([("ALLOW", "READ")], {"READ", "DESCRIBE"}),
            ([("ALLOW", "WRITE"), ("DENY", "READ")], {"WRITE", "DESCRIBE"}),
            ([("ALLOW", "DESCRIBE")], {"DESCRIBE"}),
            (
                [("ALLOW", "ALTER_CONFIGS"), ("ALLOW", "DELETE")],
                {"ALTER_CONFIGS", "DESCRIBE_CONFIGS", "DELETE", "DESCRIBE"},
            ),
            ([("ALLOW", "ALL"), ("DENY", "WRITE")], ALL_OF_TOPIC - {"WRITE"}),
        ],
    )
    def test_topic_operations(
        self, driver: Driver, stage: Stage, grants: Grants, operations: set[str]
    ) -> None:
        topic = stage.topic()
        for permission, operation in grants:
            stage.grant("alice", operation, "TOPIC", topic, permission=permission)
        assert driver.topic_operations(topic, "alice") == operations

    def test_only_topics_with_describe_are_listed(self, driver: Driver, stage: Stage) -> None:
        names = ("listed", "written", "hidden", "denied")
        listed, written, hidden, denied = (stage.topic(name) for name in names)
        stage.grant("alice", "DESCRIBE", "TOPIC", listed)
        stage.grant("alice", "WRITE", "TOPIC", written)
        stage.grant("alice", "CREATE", "TOPIC", hidden)
        stage.grant("alice", "READ", "TOPIC", denied)
        stage.grant("alice", "DESCRIBE", "TOPIC", denied, permission="DENY")
        assert driver.list_topics("alice") == {listed, written}
        assert driver.list_topics("admin") >= {listed, written, hidden, denied}

    def test_topic_operations_come_from_every_matching_pattern(
        self, driver: Driver, stage: Stage
    ) -> None:
        topic = stage.topic()
        stage.grant("alice", "ALTER", "TOPIC", stage.name, pattern_type="PREFIXED")
        stage.grant("alice", "WRITE", "TOPIC", topic)
        stage.grant("alice", "DELETE", "TOPIC", f"{topic}-longer", pattern_type="PREFIXED")
        assert driver.topic_operations(topic, "alice") == {"ALTER", "WRITE", "DESCRIBE"}

    @pytest.mark.parametrize("grants", [[], [("ALLOW", "CREATE")], [("DENY", "DESCRIBE")]])
    def test_a_topic_without_describe_is_refused(
        self, driver: Driver, stage: Stage, grants: Grants
    ) -> None:
        topic = stage.topic()
        for permission, operation in grants:
            stage.grant("alice", operation, "TOPIC", topic, permission=permission)
        with pytest.raises(ClientError) as refused:
            driver.topic_operations(topic, "alice")
        assert refused.value.code == TOPIC_AUTHORIZATION_FAILED

    @pytest.mark.parametrize(
        ("grants", "operations"),
        [
            ([("ALLOW", "READ")], {"READ", "DESCRIBE"}),
            ([("ALLOW", "DELETE"), ("DENY", "READ")], {"DELETE", "DESCRIBE"}),
            ([("ALLOW", "DESCRIBE")], {"DESCRIBE"}),
            ([("ALLOW", "ALL"), ("DENY", "DELETE")], ALL_OF_GROUP - {"DELETE"}),
        ],
    )
    def test_group_operations(
        self, driver: Driver, stage: Stage, grants: Grants, operations: set[str]
    ) -> None:
        group = _group_with_an_offset(driver, stage)
        for permission, operation in grants:
            stage.grant("alice", operation, "GROUP", group, permission=permission)
        assert driver.group_operations(group, "alice") == operations

    def test_a_group_without_describe_is_refused(self, driver: Driver, stage: Stage) -> None:
        group = _group_with_an_offset(driver, stage)
        with pytest.raises(ClientError) as refused:
            driver.group_operations(group, "alice")
        assert refused.value.code == GROUP_AUTHORIZATION_FAILED

    def test_a_super_user_may_do_everything(self, driver: Driver, stage: Stage) -> None:
        topic = stage.topic()
        group = stage.group()
        driver.commit_offset(group, topic, 0)
        assert driver.cluster_operations("admin") == ALL_OF_CLUSTER
        assert driver.topic_operations(topic, "admin") == ALL_OF_TOPIC
        assert driver.group_operations(group, "admin") == ALL_OF_GROUP


def _group_with_an_offset(driver: Driver, stage: Stage) -> str:
    """Create a group by committing an offset, since only existing groups can be described."""
    group = stage.group()
    driver.commit_offset(group, stage.topic(), 0)
    return group
