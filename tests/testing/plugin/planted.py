"""Tests that should not pass quietly, by kind; `tests/testing/plugin/test_planted.py` runs them.

Each is the body of a test, or the whole text of a test if it begins with `@`, `def` or `class`.
"""

from collections.abc import Mapping
from typing import Final

ACL: Final = 'principal="alice", allow="Write", topic="orders"'

MARKERS: Final[Mapping[str, str]] = {
    "acls_without_fixture": f"@pytest.mark.kafka_acls({ACL})\ndef test_NAME(): ...",
    "acls_with_session": f"@pytest.mark.kafka_acls({ACL})\n"
    "def test_NAME(kafka_broker_session): ...",
    "acls_with_factory": f"@pytest.mark.kafka_acls({ACL})\n"
    "def test_NAME(kafka_broker_factory):\n    kafka_broker_factory(in_process=True)",
    "broker_without_fixture": "@pytest.mark.kafka_broker(brokers=3)\ndef test_NAME(): ...",
    "broker_with_session": "@pytest.mark.kafka_broker(brokers=3)\n"
    "def test_NAME(kafka_broker_session): ...",
    "broker_with_factory": "@pytest.mark.kafka_broker(brokers=3)\n"
    "def test_NAME(kafka_broker_factory): ...",
    "cassette_without_fixture": "@pytest.mark.kafka_cassette('orders')\ndef test_NAME(): ...",
    "broker_with_cassette": "@pytest.mark.kafka_cassette('orders')\n"
    "def test_NAME(kafka_broker): ...",
    "fixture_never_requested": f"@pytest.mark.kafka_acls({ACL})\ndef test_NAME(request): ...",
    "class_with_session": f"@pytest.mark.kafka_acls({ACL})\n"
    "class TestNAME:\n    def test_it(self, kafka_broker_session): ...\n"
    "    def test_right(self, kafka_broker): kafka_broker.users.add('alice')",
    "acls_without_rule": "@pytest.mark.kafka_acls()\ndef test_NAME(kafka_broker): ...",
    "acls_misspelt_key": "@pytest.mark.kafka_acls(principal='alice', allow='Write', topc='o')\n"
    "def test_NAME(kafka_broker): ...",
    "acls_misspelt_operation": "@pytest.mark.kafka_acls(principal='a', allow='Wrte', topic='o')\n"
    "def test_NAME(kafka_broker): ...",
    "acls_without_resource": "@pytest.mark.kafka_acls(principal='alice', allow='Write')\n"
    "def test_NAME(kafka_broker): ...",
    "acls_of_unknown_user": "@pytest.mark.kafka_acls(principal='zoe', allow='Write', topic='o')\n"
    "def test_NAME(kafka_broker): kafka_broker.config('alice')",
    "broker_misspelt_keyword": "@pytest.mark.kafka_broker(kafka_versoin='3.9')\n"
    "def test_NAME(kafka_broker): ...",
    "broker_positional": "@pytest.mark.kafka_broker('3.9')\ndef test_NAME(kafka_broker): ...",
}

_ERROR: Final = 'kafka_broker.faults.error("REQUEST_TIMED_OUT", '

IMPOSSIBLE_FAULTS: Final[Mapping[str, str]] = {
    "topic_on_heartbeat": _ERROR + 'api="Heartbeat", topic="orders")',
    "group_on_produce": _ERROR + 'api="Produce", group="billing")',
    "transaction_on_fetch": _ERROR + 'api="Fetch", transactional_id="t")',
    "transaction_on_old_version": _ERROR + 'api="Metadata", version=1, transactional_id="t")',
    "partition_on_heartbeat": _ERROR + 'api="Heartbeat", partition=0)',
    "version_99": _ERROR + 'api="Produce", version=99)',
    "version_before_release": _ERROR + 'api="Produce", version=0)',
    "version_of_no_api": _ERROR + "version=99)",
    "node_42": _ERROR + "node_id=42)",
    "missing_partition": _ERROR + 'topic="orders", partition=7)',
    "negative_partition": _ERROR + "partition=-1)",
    "topic_swapped": _ERROR + 'topic="ordres")',
    "topic_missing_letter": _ERROR + 'topic="order")',
    "topic_other_case": _ERROR + 'topic="Orders")',
    "principal_swapped": _ERROR + 'principal="alcie")',
    "principal_other_case": _ERROR + 'principal="Alice")',
    "principal_type": _ERROR + 'principal="user:alice")',
    "api_misspelt": _ERROR + 'api="Prodcue")',
    "error_misspelt": 'kafka_broker.faults.error("REQUEST_TIMEDOUT")',
    "keyword_misspelt": _ERROR + "tims=3)",
    "never_by_probability": _ERROR + "with_probability=0.0)",
    "zero_times": _ERROR + "times=0)",
    "two_triggers": _ERROR + "times=1, on_call=2)",
    "throttle_of_handshake": 'kafka_broker.faults.throttle(9, api="SaslHandshake")',
    "advertise_in_fetch": 'kafka_broker.faults.advertise({"Fetch": None}, api="Fetch")',
    "field_misspelt": 'kafka_broker.faults.set({"topics.*.eror_code": 3}, api="Metadata")',
    "field_without_api": 'kafka_broker.faults.set({"topics.*.error_code": 3})',
    "deny_misspelt": 'kafka_broker.faults.deny("Wrte", topic="orders")',
    "disconnect_never": 'kafka_broker.faults.disconnect("never")',
    "api_of_later_release": "@pytest.mark.kafka_broker(kafka_version='2.8')\n"
    f"def test_NAME(kafka_broker):\n    {_ERROR}api='ConsumerGroupHeartbeat')",
}

UNMET_FAULTS: Final[Mapping[str, str]] = {
    "never_requested": _ERROR + 'api="Produce", topic="orders")',
    "unknown_client": _ERROR + 'client_id="nobody")\nask()',
    "unknown_group": _ERROR + 'api="JoinGroup", group="billing")\nask()',
    "later_call": _ERROR + 'api="Metadata", on_call=50)\nask()',
    "other_principal": _ERROR + 'api="Metadata", principal="alice")\nask()',
    "removed": _ERROR + 'api="Produce").remove()',
    "cleared": _ERROR + 'api="Produce")\nkafka_broker.faults.clear()',
    "before_reset": _ERROR + 'api="Produce")\nkafka_broker.reset()',
    "before_restore": "saved = kafka_broker.snapshot()\n"
    + _ERROR
    + 'api="Produce")\nkafka_broker.restore(saved)',
    "revoked_nothing": f"kafka_broker.faults.revoke(dict({ACL}), api='Metadata')\nask()",
    "of_factory": "def test_NAME(kafka_broker_factory):\n"
    "    broker = kafka_broker_factory(in_process=True)\n"
    "    broker.faults.delay(9, api='Produce')",
    "must_fire": _ERROR + 'api="Produce", must_fire=True)',
    "must_fire_removed": _ERROR + 'api="Produce", must_fire=True).remove()',
    "must_fire_misspelt": _ERROR + 'topic="ordres", must_fire=True)\nask()',
    "must_fire_of_factory": "def test_NAME(kafka_broker_factory):\n"
    "    broker = kafka_broker_factory(in_process=True)\n"
    "    broker.faults.delay(9, api='Produce', must_fire=True)",
}

ACLS: Final[Mapping[str, str]] = {
    "removed_missing": f"kafka_broker.acls.remove({ACL})",
    "removed_other_operation": f"kafka_broker.acls.add({ACL})\n"
    'kafka_broker.acls.remove(principal="alice", allow="Read", topic="orders")',
    "removed_other_pattern": f"kafka_broker.acls.add({ACL})\n"
    f'kafka_broker.acls.remove({ACL}, pattern="prefixed")',
    "removed_denial": f"kafka_broker.acls.add({ACL})\n"
    'kafka_broker.acls.remove(principal="alice", deny="Write", topic="orders")',
    "denied_super_user": 'kafka_broker.acls.add(principal="admin", deny="Write", topic="orders")',
    "denied_anonymous": 'kafka_broker.acls.add(principal="ANONYMOUS", deny="All", topic="*")',
    "denied_super_user_at_start": "def test_NAME(kafka_broker_factory):\n"
    "    rule = {'principal': 'admin', 'deny': 'Write', 'topic': 'orders'}\n"
    "    kafka_broker_factory(in_process=True, acls=[rule])",
    "imported_denial": 'kafka_broker.acls.import_text("acls:\\n- {principal: User:admin, deny:'
    ' Write, topic: orders}")',
    "of_unknown_user": 'kafka_broker.acls.add(principal="dora", allow="Write", topic="orders")',
    "of_misspelt_user": 'kafka_broker.acls.add(principal="alcie", allow="Write", topic="orders")',
    "of_unknown_user_at_start": "def test_NAME(kafka_broker_factory):\n"
    "    rule = {'principal': 'erin', 'allow': 'Write', 'topic': 'orders'}\n"
    "    kafka_broker_factory(in_process=True, acls=[rule])",
    "user_misspelt_later": f'kafka_broker.acls.add({ACL})\nkafka_broker.config("alcie")',
    "without_effect": 'kafka_broker.acls.add(principal="alice", allow="Write", group="g")',
}

POLICIES: Final[Mapping[str, str]] = {
    "holds_without_assert": "def test_NAME(kafka_policy):\n"
    "    kafka_policy.holds(principal='User:alice', may_not='Write', topic='orders')",
    "holds_with_assert": "def test_NAME(kafka_policy):\n"
    "    assert kafka_policy.holds(principal='User:alice', may_not='Write', topic='orders')",
    "allows_without_assert": "def test_NAME(kafka_policy):\n"
    "    kafka_policy.allows('User:bob', 'Write', 'topic:orders')",
    "allows_misspelt_operation": "def test_NAME(kafka_policy):\n"
    "    assert not kafka_policy.allows('User:bob', 'Wrte', 'topic:orders')",
    "allows_misspelt_type": "def test_NAME(kafka_policy):\n"
    "    assert not kafka_policy.allows('User:bob', 'Write', 'topc:orders')",
    "allows_bare_principal": "def test_NAME(kafka_policy):\n"
    "    assert not kafka_policy.allows('bob', 'Write', 'topic:orders')",
}

STATE: Final[Mapping[str, str]] = {
    "requests_of_misspelt_api": 'assert kafka_broker.requests(api="Prodcue") == []',
    "decisions_of_misspelt_api": 'assert kafka_broker.decisions(api="Prodcue") == []',
    "decisions_of_misspelt_operation": 'assert kafka_broker.decisions(operation="Wrte") == []',
    "decisions_of_misspelt_type": 'assert kafka_broker.decisions(resource_type="TOPC") == []',
    "decisions_by_misspelt_filter": 'assert kafka_broker.decisions(topc="orders") == []',
    "who_can_misspelt": 'assert not kafka_broker.who_can("Wrte", "orders").allowed',
    "records_of_missing_topic": 'assert not kafka_broker.topics.records("ordres")',
    "records_of_missing_partition": 'assert not kafka_broker.topics.records("orders", partition=7)',
    "acls_of_misspelt_user": 'assert not kafka_broker.acls.list(principal="alcie")',
    "deleted_missing_topic": 'kafka_broker.topics.delete("ordres")',
    "deleted_missing_group": 'kafka_broker.groups.delete("billing")',
    "removed_missing_user": 'kafka_broker.users.remove("alcie")',
    "stopped_missing_node": "kafka_broker.nodes.stop(42)",
}

PLANTED: Final[Mapping[str, str]] = {
    f"{group}_{name}": text
    for group, planted in {
        "marker": MARKERS,
        "impossible": IMPOSSIBLE_FAULTS,
        "unmet": UNMET_FAULTS,
        "acl": ACLS,
        "policy": POLICIES,
        "state": STATE,
    }.items()
    for name, text in planted.items()
}

RIGHT: Final = f"""
@pytest.mark.kafka_acls({ACL})
def test_right_acl(kafka_broker):
    kafka_broker.config("alice")


def test_right_fault(kafka_broker):
    fault = kafka_broker.faults.delay(1, api="Metadata", must_fire=True)
    ask(kafka_broker)
    assert fault.fired == 1


def test_right_fault_of_a_later_topic(kafka_broker):
    kafka_broker.faults.delay(1, api="Metadata", topic="invoices", must_fire=True)
    ask(kafka_broker, "invoices")


def test_right_fault_of_a_similar_topic(kafka_broker):
    kafka_broker.topics.create("orders-1")
    kafka_broker.faults.delay(1, api="Metadata", topic="orders-2")
    ask(kafka_broker, "orders-2")


def test_right_fault_of_a_setting(kafka_broker):
    kafka_broker.topics.create("orders")
    fault = kafka_broker.faults.error("POLICY_VIOLATION", api="DescribeConfigs", topic="orders")
    with pytest.raises(KafkaException):
        describe(kafka_broker, "orders")
    assert fault.fired == 1


def test_right_chance(kafka_broker):
    kafka_broker.faults.delay(1, api="Metadata", with_probability=0.0001)
    ask(kafka_broker)


@pytest.mark.kafka_acls({ACL})
def test_right_removal(kafka_broker):
    assert len(kafka_broker.acls.remove({ACL})) == 1


def test_right_revocation(kafka_broker):
    kafka_broker.users.add("alice")
    kafka_broker.acls.add({ACL})
    kafka_broker.faults.revoke(dict({ACL}), api="Metadata")
    ask(kafka_broker)


@pytest.mark.kafka_acls({ACL})
def test_right_fixture_at_last(request):
    request.getfixturevalue("kafka_broker").config("alice")


@pytest.mark.kafka_acls({ACL})
@pytest.mark.kafka_acls(principal="bob", allow="Read", topic="orders")
class TestRightClass:
    def test_right_alice(self, kafka_broker):
        kafka_broker.config("alice")

    def test_right_bob(self, kafka_broker):
        kafka_broker.config("bob")

    def test_right_without_broker(self): ...


def test_right_policy(kafka_policy):
    kafka_policy.holds(principal="User:alice", may="Write", topic="orders")
    assert kafka_policy.allows("User:alice", "Write", "topic:orders")
    assert not kafka_policy.allows("User:bob", "Write", "topic:orders")


@pytest.mark.kafka_broker(acls=[dict({ACL}), dict(principal="bob", allow="Read", topic="orders")])
def test_right_shared_acls(kafka_broker):
    kafka_broker.config("alice")


@pytest.fixture
def broker_of_two(kafka_broker):
    kafka_broker.acls.add({ACL})
    kafka_broker.acls.add(principal="bob", allow="Read", topic="orders")
    return kafka_broker


def test_right_user_of_a_fixture(broker_of_two):
    broker_of_two.config("alice")
"""
