"""The fewest and narrowest ACLs for several questions to the authorizer."""

from kafka_shim.authorizer.model import Action, Actor
from kafka_shim.authorizer.remedy import CheckedAction, RequiredAccess
from kafka_shim.policy.formats.yaml_rules import acls_to_rules
from kafka_shim.policy.least.least_acls import least_acls
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, ResourceType

TOPIC, GROUP, CLUSTER = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER
CREATE_ANYWHERE = Action(Operation.CREATE, CLUSTER, CLUSTER_NAME)
IDEMPOTENT = Action(Operation.IDEMPOTENT_WRITE, CLUSTER, CLUSTER_NAME)
WRITE_ANY = Action(Operation.WRITE, TOPIC, "*")


def on(operation: Operation, name: str = "orders", resource: ResourceType = TOPIC) -> Action:
    return Action(operation, resource, name)


def question(*actions: Action, any_name: bool = False) -> RequiredAccess:
    *others, last = actions
    checks = (*map(CheckedAction, others), CheckedAction(last, any_name))
    return RequiredAccess(Actor("User:app", "*"), tuple((check,) for check in checks))


def short(*needs: RequiredAccess, prefixes: tuple[str, ...] = ()) -> object:
    rules = acls_to_rules(least_acls(needs, prefixes))
    for rule in rules:
        assert rule.pop("principal") == "User:app"
    return rules


def test_read_and_write_include_describe() -> None:
    asked = [question(on(op)) for op in (Operation.DESCRIBE, Operation.READ, Operation.DESCRIBE)]
    assert short(*asked) == [{"allow": ["Read"], "topic": "orders"}]


def test_describe_of_another_topic_is_kept() -> None:
    found = short(question(on(Operation.DESCRIBE, "a")), question(on(Operation.READ, "b")))
    assert found == [{"allow": ["Describe"], "topic": "a"}, {"allow": ["Read"], "topic": "b"}]


def test_create_on_the_topic_is_preferred_to_create_on_the_cluster() -> None:
    asked = question(CREATE_ANYWHERE, on(Operation.CREATE))
    assert short(asked) == [{"allow": ["Create"], "topic": "orders"}]


def test_an_acl_that_is_needed_anyway_replaces_alternatives() -> None:
    asked = question(CREATE_ANYWHERE, on(Operation.CREATE))
    found = short(asked, question(CREATE_ANYWHERE))
    assert found == [{"allow": ["Create"], "cluster": CLUSTER_NAME}]


def test_an_idempotent_producer_needs_write_on_its_topic_only() -> None:
    asked = question(IDEMPOTENT, WRITE_ANY, any_name=True)
    assert short(asked, question(on(Operation.WRITE))) == [{"allow": ["Write"], "topic": "orders"}]


def test_without_a_topic_an_idempotent_producer_needs_idempotent_write() -> None:
    asked = question(IDEMPOTENT, WRITE_ANY, any_name=True)
    assert short(asked) == [{"allow": ["IdempotentWrite"], "cluster": CLUSTER_NAME}]


def test_names_with_a_prefix_share_an_acl() -> None:
    asked = [question(on(Operation.READ, f"run-{n}", GROUP)) for n in range(3)]
    found = short(*asked, question(CREATE_ANYWHERE), prefixes=("run-", "k"))
    assert found == [
        {"allow": ["Read"], "group": "run-", "pattern": "prefixed"},
        {"allow": ["Create"], "cluster": CLUSTER_NAME},
    ]
