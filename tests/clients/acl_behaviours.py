"""Tests that create, list and delete ACLs; the test module of each client inherits them."""

from collections.abc import Iterable
from typing import ClassVar

import pytest

from tests.clients.driver import Acl, ClientError, Driver
from tests.clients.stage import Stage

CLUSTER_AUTHORIZATION_FAILED = 31
INVALID_REQUEST = 42


class AclBehaviours:
    """ACLs (KIP-140, KIP-290) as a super user and as users without rights manage them."""

    listing_tells_denial: ClassVar[bool] = True
    """False for a client that returns an empty list when DescribeAcls is denied."""

    def test_literal_and_prefixed_acls_are_created(self, driver: Driver, stage: Stage) -> None:
        acls = {
            _topic_acl(stage, stage.name, "LITERAL"),
            _topic_acl(stage, stage.name, "PREFIXED"),
            _topic_acl(stage, stage.name, "PREFIXED", operation="ALL", permission="DENY"),
            Acl("GROUP", stage.name, "PREFIXED", stage.principal, "*", "READ", "ALLOW"),
            Acl("CLUSTER", "kafka-cluster", "LITERAL", stage.principal, "*", "ALTER", "ALLOW"),
            Acl("TRANSACTIONAL_ID", "*", "LITERAL", stage.principal, "10.0.0.1", "WRITE", "ALLOW"),
        }
        stage.create(*acls)
        everything = Acl("ANY", None, "ANY", stage.principal, None, "ANY", "ANY")
        assert driver.list_acls(everything) == acls

    def test_creating_an_acl_again_changes_nothing(self, driver: Driver, stage: Stage) -> None:
        acl = _topic_acl(stage, stage.name, "LITERAL")
        stage.create(acl)
        assert driver.create_acls([acl]) == []
        assert driver.list_acls(_topics(stage, stage.name, "LITERAL")) == {acl}

    def test_one_bad_acl_does_not_stop_the_others(self, driver: Driver, stage: Stage) -> None:
        good = _topic_acl(stage, stage.name, "LITERAL")
        bad = good._replace(principal="without-a-type")
        codes = driver.create_acls([bad, good])
        stage.adopt(good)
        assert codes == [INVALID_REQUEST]
        anyone = _topics(stage, stage.name, "LITERAL")._replace(principal=None)
        assert driver.list_acls(anyone) == {good}

    @pytest.mark.parametrize(
        ("pattern_type", "asked", "found"),
        [
            ("LITERAL", "name", {"literal"}),
            ("PREFIXED", "name", {"prefixed"}),
            ("ANY", "name", {"literal", "prefixed"}),
            ("MATCH", "name", {"literal", "prefixed", "shorter", "wildcard"}),
            ("LITERAL", None, {"literal", "wildcard"}),
            ("PREFIXED", None, {"prefixed", "shorter", "longer"}),
            ("ANY", None, {"literal", "prefixed", "shorter", "longer", "wildcard"}),
            ("MATCH", None, {"literal", "prefixed", "shorter", "longer", "wildcard"}),
            ("LITERAL", "*", {"wildcard"}),
            ("MATCH", "unrelated", {"wildcard"}),
            ("ANY", "unrelated", set()),
        ],
    )
    def test_a_pattern_filter_finds(
        self, driver: Driver, stage: Stage, pattern_type: str, asked: str | None, found: set[str]
    ) -> None:
        acls = _five_patterns(stage)
        stage.create(*acls.values())
        name = stage.name if asked == "name" else asked
        listed = driver.list_acls(_topics(stage, name, pattern_type))
        assert listed == {acls[key] for key in found}

    @pytest.mark.parametrize(
        ("pattern_type", "removed"),
        [
            ("LITERAL", {"literal"}),
            ("PREFIXED", {"prefixed"}),
            ("ANY", {"literal", "prefixed"}),
            ("MATCH", {"literal", "prefixed", "shorter", "wildcard"}),
        ],
    )
    def test_a_filter_deletes_what_it_matches(
        self, driver: Driver, stage: Stage, pattern_type: str, removed: set[str]
    ) -> None:
        acls = _five_patterns(stage)
        stage.create(*acls.values())
        deleted = driver.delete_acls([_topics(stage, stage.name, pattern_type)])
        assert deleted == [{acls[key] for key in removed}]
        stage.wait_for(_topics(stage, None, "ANY"), {acls[key] for key in acls.keys() - removed})
        assert driver.delete_acls([_topics(stage, stage.name, pattern_type)]) == [set()]

    def test_each_filter_deletes_its_own(self, driver: Driver, stage: Stage) -> None:
        acls = _five_patterns(stage)
        stage.create(*acls.values())
        filters = [
            _topics(stage, stage.name, "LITERAL"),
            _topics(stage, "unrelated", "LITERAL"),
            _topics(stage, None, "PREFIXED"),
        ]
        expected = [{"literal"}, set(), {"prefixed", "shorter", "longer"}]
        assert driver.delete_acls(filters) == [{acls[key] for key in keys} for keys in expected]

    def test_filters_by_operation_permission_and_host(self, driver: Driver, stage: Stage) -> None:
        read = _topic_acl(stage, stage.name, "LITERAL", operation="READ")
        deny = _topic_acl(stage, stage.name, "LITERAL", operation="READ", permission="DENY")
        write = _topic_acl(stage, stage.name, "LITERAL", operation="WRITE", host="10.0.0.1")
        stage.create(read, deny, write)
        any_acl = _topics(stage, stage.name, "LITERAL")
        assert driver.list_acls(any_acl._replace(operation="READ")) == {read, deny}
        assert driver.list_acls(any_acl._replace(permission="ALLOW")) == {read, write}
        assert driver.list_acls(any_acl._replace(host="10.0.0.1")) == {write}
        assert driver.list_acls(any_acl._replace(operation="ALL")) == set()

    def test_a_plain_user_may_not_change_acls(self, driver: Driver, stage: Stage) -> None:
        acl = _topic_acl(stage, stage.name, "LITERAL")
        stage.create(acl)
        assert driver.create_acls([acl], user="carol") == [CLUSTER_AUTHORIZATION_FAILED]
        with pytest.raises(ClientError) as denied:
            driver.delete_acls([_topics(stage, None, "ANY")], user="carol")
        assert denied.value.code == CLUSTER_AUTHORIZATION_FAILED
        assert driver.list_acls(_topics(stage, None, "ANY")) == {acl}

    def test_a_plain_user_may_not_list_acls(self, driver: Driver, stage: Stage) -> None:
        stage.create(_topic_acl(stage, stage.name, "LITERAL"))
        if not self.listing_tells_denial:
            assert driver.list_acls(_topics(stage, None, "ANY"), user="carol") == set()
            return
        with pytest.raises(ClientError) as denied:
            driver.list_acls(_topics(stage, None, "ANY"), user="carol")
        assert denied.value.code == CLUSTER_AUTHORIZATION_FAILED

    def test_describe_on_the_cluster_lists_but_does_not_change_acls(
        self, driver: Driver, stage: Stage
    ) -> None:
        acl = _topic_acl(stage, stage.name, "LITERAL")
        stage.create(acl)
        stage.grant("bob", "DESCRIBE", "CLUSTER", "kafka-cluster")
        assert driver.list_acls(_topics(stage, None, "ANY"), user="bob") == {acl}
        assert driver.create_acls([acl], user="bob") == [CLUSTER_AUTHORIZATION_FAILED]

    def test_alter_on_the_cluster_changes_acls(self, driver: Driver, stage: Stage) -> None:
        acl = _topic_acl(stage, stage.name, "LITERAL")
        stage.grant("bob", "ALTER", "CLUSTER", "kafka-cluster")
        assert driver.create_acls([acl], user="bob") == []
        stage.wait_for(_topics(stage, None, "ANY"), {acl})
        assert driver.delete_acls([_topics(stage, None, "ANY")], user="bob") == [{acl}]

    def test_a_super_user_can_log_in(self, driver: Driver, stage: Stage) -> None:
        acl = _topic_acl(stage, stage.name, "LITERAL")
        stage.create(acl)
        assert driver.list_acls(_topics(stage, None, "ANY"), user="admin") == {acl}


def _topic_acl(
    stage: Stage,
    name: str,
    pattern_type: str,
    *,
    operation: str = "READ",
    permission: str = "ALLOW",
    host: str = "*",
) -> Acl:
    return Acl("TOPIC", name, pattern_type, stage.principal, host, operation, permission)


def _topics(stage: Stage, name: str | None, pattern_type: str) -> Acl:
    """Return a filter for this test's topic ACLs; its principal excludes those of other tests."""
    return Acl("TOPIC", name, pattern_type, stage.principal, None, "ANY", "ANY")


def _five_patterns(stage: Stage) -> dict[str, Acl]:
    patterns: Iterable[tuple[str, str, str]] = [
        ("literal", stage.name, "LITERAL"),
        ("prefixed", stage.name, "PREFIXED"),
        ("shorter", stage.name[:-3], "PREFIXED"),
        ("longer", f"{stage.name}-longer", "PREFIXED"),
        ("wildcard", "*", "LITERAL"),
    ]
    return {key: _topic_acl(stage, name, pattern_type) for key, name, pattern_type in patterns}
