"""Kafka's own Java clients and kafka-acls against the broker."""

import pytest

from tests.clients.acl_behaviours import AclBehaviours
from tests.clients.driver import Acl, Driver
from tests.clients.operations_behaviours import OperationsBehaviours
from tests.clients.record_behaviours import RecordBehaviours
from tests.clients.stage import Stage
from tests.clients.toolchains import WITH_TOOLS

pytestmark = [pytest.mark.client, pytest.mark.timeout(300, func_only=True)]


class TestJavaClients(AclBehaviours, OperationsBehaviours, RecordBehaviours):
    withheld_offset = "left out"

    @pytest.fixture(params=["newest", WITH_TOOLS])
    def driver(self, request: pytest.FixtureRequest) -> Driver:
        name = "java" if request.param == "newest" else "java_with_tools"
        found: Driver = request.getfixturevalue(name)
        return found


class TestKafkaAcls:
    """The output of kafka-acls."""

    @pytest.fixture
    def driver(self, java_with_tools: Driver) -> Driver:
        return java_with_tools

    def test_added_acls_are_printed_and_listed(self, driver: Driver, stage: Stage) -> None:
        resource = _resource("TOPIC", stage.name)
        entries = [_entry(stage, "READ"), _entry(stage, "WRITE")]
        added = _run(
            driver, "--add", *_allow(stage), "--operation", "Read", "--operation", "Write",
            "--topic", stage.name,
        )  # fmt: skip
        stage.adopt(_acl(stage, "READ"), _acl(stage, "WRITE"))
        assert added == sorted([f"Adding ACLs for resource `{resource}`:", *entries])
        listed = _run(driver, "--list", "--topic", stage.name)
        assert listed == sorted([f"Current ACLs for resource `{resource}`:", *entries])

    def test_an_acl_is_not_added_twice(self, driver: Driver, stage: Stage) -> None:
        stage.create(_acl(stage, "READ"))
        added = _run(driver, "--add", *_allow(stage), "--operation", "Read", "--topic", stage.name)
        pattern = _resource("TOPIC", stage.name)
        entry = _entry(stage, "READ")
        assert added == [f"Acl (pattern={pattern}, entry={entry}) already exists."]

    @pytest.mark.parametrize(
        ("pattern_type", "found"),
        [
            ("literal", {"LITERAL"}),
            ("prefixed", {"PREFIXED"}),
            ("any", {"LITERAL", "PREFIXED"}),
            ("match", {"LITERAL", "PREFIXED", "shorter"}),
        ],
    )
    def test_lists_by_pattern_type(
        self, driver: Driver, stage: Stage, pattern_type: str, found: set[str]
    ) -> None:
        resources = {
            "LITERAL": _resource("TOPIC", stage.name),
            "PREFIXED": _resource("TOPIC", stage.name, "PREFIXED"),
            "shorter": _resource("TOPIC", stage.name[:-3], "PREFIXED"),
        }
        stage.create(
            _acl(stage, "READ"),
            _acl(stage, "READ")._replace(pattern_type="PREFIXED"),
            _acl(stage, "READ")._replace(pattern_type="PREFIXED", name=stage.name[:-3]),
        )
        listed = _run(
            driver, "--list", "--principal", stage.principal, "--topic", stage.name,
            "--resource-pattern-type", pattern_type,
        )  # fmt: skip
        headings = [f"Current ACLs for resource `{resources[key]}`:" for key in found]
        first = f"ACLs for principal `{stage.principal}`"
        assert listed == sorted([first, *headings, *[_entry(stage, "READ")] * len(found)])

    def test_adds_what_a_producer_needs(self, driver: Driver, stage: Stage) -> None:
        _run(
            driver, "--add", *_allow(stage), "--producer", "--idempotent",
            "--topic", stage.name, "--transactional-id", stage.name,
        )  # fmt: skip
        topic = {_acl(stage, operation) for operation in ("WRITE", "DESCRIBE", "CREATE")}
        transactional_id = {
            _acl(stage, operation)._replace(resource_type="TRANSACTIONAL_ID")
            for operation in ("WRITE", "DESCRIBE")
        }
        cluster = _acl(stage, "IDEMPOTENT_WRITE")._replace(
            resource_type="CLUSTER", name="kafka-cluster"
        )
        stage.adopt(*topic, *transactional_id, cluster)
        everything = Acl("ANY", None, "ANY", stage.principal, None, "ANY", "ANY")
        assert driver.list_acls(everything) == topic | transactional_id | {cluster}

    def test_adds_what_a_consumer_needs(self, driver: Driver, stage: Stage) -> None:
        _run(
            driver, "--add", *_allow(stage), "--consumer", "--group", stage.name,
            "--topic", stage.name, "--resource-pattern-type", "prefixed",
        )  # fmt: skip
        acls = {
            acl._replace(pattern_type="PREFIXED")
            for acl in (
                _acl(stage, "READ"),
                _acl(stage, "DESCRIBE"),
                _acl(stage, "READ")._replace(resource_type="GROUP"),
            )
        }
        stage.adopt(*acls)
        everything = Acl("ANY", None, "ANY", stage.principal, None, "ANY", "ANY")
        assert driver.list_acls(everything) == acls

    def test_removes_an_operation(self, driver: Driver, stage: Stage) -> None:
        stage.create(_acl(stage, "READ"), _acl(stage, "WRITE"))
        removed = _run(
            driver, "--remove", "--force", *_allow(stage), "--operation", "Read",
            "--topic", stage.name,
        )  # fmt: skip
        assert removed == []
        stage.wait_for(_acl(stage, "ANY"), {_acl(stage, "WRITE")})

    def test_removes_every_acl_of_a_topic(self, driver: Driver, stage: Stage) -> None:
        prefixed = _acl(stage, "READ")._replace(pattern_type="PREFIXED")
        stage.create(_acl(stage, "READ"), _acl(stage, "WRITE"), prefixed)
        _run(driver, "--remove", "--force", "--topic", stage.name)
        stage.wait_for(_acl(stage, "ANY")._replace(pattern_type="ANY"), {prefixed})
        listed = _run(driver, "--list", "--topic", stage.name)
        assert listed == []

    @pytest.mark.parametrize(
        "words",
        [
            ["--list"],
            ["--add", "--allow-principal", "User:carol", "--operation", "Read"],
            ["--remove", "--force"],
        ],
        ids=["list", "add", "remove"],
    )
    def test_fails_for_a_plain_user(self, driver: Driver, stage: Stage, words: list[str]) -> None:
        stage.create(_acl(stage, "READ"))
        code, output = driver.kafka_acls(*words, "--topic", stage.name, user="carol")
        assert code == 1
        assert "ClusterAuthorizationException" in output
        assert driver.list_acls(_acl(stage, "ANY")) == {_acl(stage, "READ")}

    def test_lists_for_a_user_with_describe_on_the_cluster(
        self, driver: Driver, stage: Stage
    ) -> None:
        stage.create(_acl(stage, "READ"))
        stage.grant("bob", "DESCRIBE", "CLUSTER", "kafka-cluster")
        code, output = driver.kafka_acls("--list", "--topic", stage.name, user="bob")
        assert code == 0
        assert _entry(stage, "READ") in output


def _run(driver: Driver, *words: str) -> list[str]:
    """Return the lines that the tool prints, sorted, since the order of ACLs is undefined."""
    code, output = driver.kafka_acls(*words)
    assert code == 0, output
    return sorted(line.strip() for line in output.splitlines() if line.strip())


def _allow(stage: Stage) -> list[str]:
    return ["--allow-principal", stage.principal]


def _acl(stage: Stage, operation: str) -> Acl:
    return Acl("TOPIC", stage.name, "LITERAL", stage.principal, "*", operation, "ALLOW")


def _resource(resource_type: str, name: str, pattern_type: str = "LITERAL") -> str:
    return f"ResourcePattern(resourceType={resource_type}, name={name}, patternType={pattern_type})"


def _entry(stage: Stage, operation: str) -> str:
    return f"(principal={stage.principal}, host=*, operation={operation}, permissionType=ALLOW)"
