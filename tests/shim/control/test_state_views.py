"""The control API shows records, groups, transactions, permissions and requests."""

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from kafka_shim.shim.control import bodies, state_bodies
from kafka_shim.testing import KafkaBroker, start
from tests.shim.control.plain_http import Http, fails, works

LONG = "a book, " * 50
"""A value that is long enough for clients to compress it."""

pytestmark = [pytest.mark.client, pytest.mark.timeout(120, func_only=True)]


@pytest.fixture(scope="module")
def shared() -> Iterator[KafkaBroker]:
    with start(topics={"orders": 2}) as broker:
        yield broker


@pytest.fixture
def api(broker: KafkaBroker) -> Http:
    return Http(str(broker.control_url))


def test_records_of_clients_are_shown(api: Http, broker: KafkaBroker) -> None:
    producer = Producer(broker.config() | {"compression.type": "gzip"})
    producer.produce("orders", LONG, key="k", headers={"trace": b"\xff"}, partition=1)
    producer.produce("orders", None, key=b"\x80", partition=1)
    producer.flush(20)
    found = works(api.ask("GET", "/topics/orders/records?partition=1"), state_bodies.RecordRows)
    first, second = found["records"]
    assert (first["key"], first["value"], first["compression"]) == ("k", LONG, "gzip")
    assert first["headers"] == [{"key": "trace", "value": None, "value_hex": "ff"}]
    assert (second["key"], second["key_hex"], second["value_hex"]) == (None, "80", None)
    assert (found["end_offset"], found["next_offset"]) == (2, 2)
    page = works(
        api.ask("GET", "/topics/orders/records?partition=1&from=0&limit=1"),
        state_bodies.RecordRows,
    )
    assert ([row["offset"] for row in page["records"]], page["next_offset"]) == ([0], 1)
    fails(api.ask("GET", "/topics/none/records"), 404, "unknown topic `none`")
    fails(api.ask("GET", "/topics/orders/records?partition=9"), 404, "no partition 9")
    fails(api.ask("GET", "/topics/orders/records?from=x"), 400, "expected a number")


def test_a_produced_record_is_read_by_consumers(api: Http, broker: KafkaBroker) -> None:
    new = {"key": "k", "value": "a book", "headers": {"by": "hand"}, "partition": 1}
    stored = works(api.ask("POST", "/topics/orders/records", new), state_bodies.ProducedRecord)
    assert stored == {"partition": 1, "offset": 0}
    consumer = Consumer(broker.config() | {"group.id": "g"})
    consumer.assign([TopicPartition("orders", 1, 0)])
    message = consumer.poll(20)
    consumer.close()
    assert message is not None
    assert (message.key(), message.value()) == (b"k", b"a book")
    assert message.headers() == [("by", b"hand")]
    broker.topics.create("latest", configs={"cleanup.policy": "compact"})
    fails(api.ask("POST", "/topics/latest/records", {"value": "1"}), 400, "INVALID_RECORD")


def test_a_group_has_members_offsets_and_lag(api: Http, broker: KafkaBroker) -> None:
    for number in range(3):
        api.ask("POST", "/topics/orders/records", {"value": str(number)})
    config = {"group.id": "billing", "client.id": "shop", "auto.offset.reset": "earliest"}
    consumer = Consumer(broker.config() | config)
    consumer.subscribe(["orders"])
    message = consumer.poll(20)
    assert message is not None
    consumer.commit(message=message, asynchronous=False)
    group = works(api.ask("GET", "/groups/billing"), state_bodies.GroupDetail)
    [member] = group["members"]
    assert (group["type"], group["state"], member["client_id"]) == ("classic", "Stable", "shop")
    assert member["assignment"] == [{"topic": "orders", "partitions": [0, 1]}]
    assert [(row["partition"], row["offset"], row["lag"]) for row in group["offsets"]] == [
        (0, 1, 2)
    ]
    fails(api.ask("POST", "/groups/billing/offsets", {"to": "latest"}), 409, "has members")
    fails(api.ask("DELETE", "/groups/billing"), 409, "has members")
    consumer.close()
    moved = works(
        api.ask("POST", "/groups/billing/offsets", {"to": "latest"}), state_bodies.GroupOffsets
    )
    assert [(row["offset"], row["lag"]) for row in moved["offsets"]] == [(3, 0)]
    works(api.ask("DELETE", "/groups/billing"), bodies.Done)
    assert works(api.ask("GET", "/groups"), state_bodies.GroupRows)["groups"] == []


def test_a_consumer_begins_at_the_offset_of_a_reset(api: Http, broker: KafkaBroker) -> None:
    for number in range(3):
        api.ask("POST", "/topics/orders/records", {"value": str(number)})
    new = {"to": 2, "topic": "orders", "partition": 0}
    works(api.ask("POST", "/groups/later/offsets", new), state_bodies.GroupOffsets)
    consumer = Consumer(broker.config() | {"group.id": "later"})
    consumer.subscribe(["orders"])
    message = consumer.poll(20)
    consumer.close()
    assert message is not None
    assert message.value() == b"2"
    fails(api.ask("POST", "/groups/later/offsets", new | {"to": 9}), 400, "from 0 to 3")
    fails(api.ask("POST", "/groups/later/offsets", new | {"to": "soon"}), 400, "`soon`")
    fails(api.ask("POST", "/groups/none/offsets", {"to": 0}), 404, "unknown group `none`")


def test_transactions_and_their_producers_are_listed(api: Http, broker: KafkaBroker) -> None:
    producer = Producer(broker.config() | {"transactional.id": "tx"})
    producer.init_transactions(20)
    producer.begin_transaction()
    producer.produce("orders", b"1", partition=1)
    producer.flush(20)
    found = works(api.ask("GET", "/transactions"), state_bodies.TransactionRows)
    [row] = found["transactions"]
    assert (row["transactional_id"], row["state"]) == ("tx", "Ongoing")
    assert row["partitions"] == [{"topic": "orders", "partition": 1}]
    [writer] = [row for row in found["producers"] if row["topic"] == "orders"]
    assert (writer["producer_id"], writer["transaction_offset"]) == (row["producer_id"], 0)
    producer.commit_transaction(20)
    after = works(api.ask("GET", "/transactions"), state_bodies.TransactionRows)
    assert after["transactions"][0]["state"] == "CompleteCommit"
    records = api.ask("GET", "/topics/orders/records?partition=1")[1]["records"]
    assert [record["control"] for record in records] == [None, "commit"]


def test_permissions_and_the_matrix_of_a_type_are_listed(api: Http, broker: KafkaBroker) -> None:
    broker.acls.add(
        {"principal": "bob", "allow": "Read", "group": "billing"},
        {"principal": "bob", "allow": "Write", "topic": "orders"},
    )
    path = "/who-can?operation=Write&resource_name=orders"
    found = works(api.ask("GET", path), state_bodies.WhoCanRows)
    assert {row["principal"] for row in found["allowed"]} == {
        "User:bob", "User:ANONYMOUS", "User:admin",
    }  # fmt: skip
    fails(api.ask("GET", "/who-can?operation=Create&resource_type=group"), 400, "no operation")
    fails(api.ask("GET", "/who-can?operation=Read"), 400, "resource_name is missing")
    groups = works(api.ask("GET", "/matrix?resource_type=group"), bodies.AccessMatrix)
    row = groups["principals"].index("User:bob")
    assert groups["resources"] == ["billing"]
    assert groups["rows"][row] == {
        "principal": "User:bob",
        "allowed": [["READ", "DESCRIBE"]],
        "denied": [[]],
    }
    part = works(api.ask("GET", f"/matrix?first_principal={row}&principals=1"), bodies.AccessMatrix)
    assert [row["principal"] for row in part["rows"]] == ["User:bob"]
    assert part["principals"] == groups["principals"]
    fails(api.ask("GET", "/matrix?resource_type=tpic"), 400, "tpic")


def test_a_request_is_returned_with_its_response(api: Http, broker: KafkaBroker) -> None:
    Producer(broker.config("alice")).list_topics("orders", timeout=20)
    seen = api.ask("GET", "/requests?api=Metadata")[1]["requests"][-1]
    assert seen["latency_us"] >= 0
    full = works(api.ask("GET", f"/requests/{seen['number']}"), state_bodies.RequestDetail)
    assert full["request"] == seen["request"]
    assert full["response"]["topics"][0]["name"] == "orders"
    assert bytes.fromhex(full["response_hex"])[:4] == seen["correlation_id"].to_bytes(4, "big")
    assert len(full["response_hex"]) == 2 * full["response_bytes"]
    login = api.ask("GET", "/requests?api=SaslAuthenticate")[1]["requests"][-1]
    hidden = works(api.ask("GET", f"/requests/{login['number']}"), state_bodies.RequestDetail)
    assert (hidden["request"]["authBytes"], hidden["response"]["authBytes"]) == ("", "")
    fails(api.ask("GET", "/requests/999999"), 404, "no longer kept")


def test_access_of_one_principal_names_the_acls_that_decide(api: Http, broker: KafkaBroker) -> None:
    broker.acls.add(
        {"principal": "bob", "deny": "Read", "topic": "pay", "pattern": "prefixed"},
        {"principal": "bob", "allow": "Write", "topic": "payments"},
    )
    path = "/access?principal=User%3Abob&resource_name=payments"
    found = works(api.ask("GET", path), state_bodies.AccessOfPrincipal)
    rows = {row["operation"]: row for row in found["operations"]}
    assert rows["READ"]["acl"]["permission"] == "DENY"
    assert (rows["WRITE"]["allowed"], rows["WRITE"]["acl"]["operation"]) == (True, "WRITE")
    assert rows["DELETE"]["because"] == "no ACL allows it"
    assert rows["DELETE"]["narrowest_acl"]["operation"] == "DELETE"
    path = "/matrix?resource_contains=payments&principal_contains=bob"
    broker.topics.create("payments")
    [row] = works(api.ask("GET", path), bodies.AccessMatrix)["rows"]
    assert (row["allowed"], row["denied"]) == ([["WRITE", "DESCRIBE"]], [["READ"]])
    fails(api.ask("GET", "/access?resource_name=payments"), 400, "expected principal")
    broker.acls.add(
        {"principal": "bob", "deny": "Write", "topic": "payments", "host": "0:0:0:0:0:0:0:1"}
    )
    path = "/access?principal=User%3Abob&resource_name=payments&host="
    found = works(api.ask("GET", f"{path}::1"), state_bodies.AccessOfPrincipal)
    assert found["host"] == "0:0:0:0:0:0:0:1"
    rows = {row["operation"]: row for row in found["operations"]}
    assert rows["WRITE"]["because"] == "acl"
    path_of_matrix = "/matrix?resource_contains=payments&principal_contains=bob&host="
    found = works(api.ask("GET", f"{path_of_matrix}%5B::1%5D"), bodies.AccessMatrix)
    assert (found["host"], found["rows"][0]["allowed"]) == ("0:0:0:0:0:0:0:1", [["DESCRIBE"]])
    fails(api.ask("GET", f"{path}localhost"), 400, "expected the address of a client")
    [text] = api.ask("GET", "/acls/export?format=yaml&principal=User%3Abob")[1]["text"].split("\0")
    assert "User:bob" in text
    assert api.ask("GET", "/acls/export?principal=User%3Azoe")[1]["text"].strip() == ""


def test_acls_that_decided_are_listed_with_their_last_use(api: Http, broker: KafkaBroker) -> None:
    broker.acls.add(
        {"principal": "alice", "allow": "Write", "topic": "used"},
        {"principal": "alice", "allow": "Write", "topic": "unused"},
    )
    broker.topics.create("used")
    producer = Producer(broker.config("alice"))
    producer.produce("used", b"1")
    producer.flush(20)
    found = works(api.ask("GET", "/acls/use"), state_bodies.AclUse)
    [row] = found["acls"]
    assert row["acl"]["resource_name"] == "used"
    decisions = [each for each in broker.decisions() if each.because == "acl"]
    assert row["decisions"] == len(decisions)
    assert found["since_us"] <= row["last_used_us"] == decisions[-1].time_us
