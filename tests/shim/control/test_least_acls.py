"""The fewest ACLs for what a principal tried: adding them, the same requests succeed."""

from collections.abc import Callable
from contextlib import suppress

import pytest
from confluent_kafka import Consumer, KafkaException, Producer

from kafka_shim.shim.control import state_bodies
from kafka_shim.testing import KafkaBroker
from tests.shim.control.plain_http import Http, fails, works


def least(api: Http, query: str) -> dict[str, object]:
    return works(api.ask("GET", f"/least-acls?{query}"), state_bodies.LeastAcls)


def produces(broker: KafkaBroker) -> bool:
    config = {"client.id": "shop", "message.timeout.ms": 1500, "enable.idempotence": True}
    [before] = [topic.end_offsets for topic in broker.topics.list()]
    producer = Producer(broker.config("carol") | config)
    producer.produce("orders", b"1")
    with suppress(KafkaException):  # of the producer id
        producer.flush(5)
    return [topic.end_offsets for topic in broker.topics.list()] != [before]


def consumes(broker: KafkaBroker) -> bool:
    config = {"group.id": "billing", "auto.offset.reset": "earliest"}
    consumer = Consumer(broker.config("carol") | config)
    consumer.subscribe(["orders"])
    try:
        message = consumer.poll(3)
        return message is not None and message.error() is None
    finally:
        consumer.close()


@pytest.mark.client
@pytest.mark.timeout(120)
@pytest.mark.parametrize("works_now", [produces, consumes])
def test_after_adding_them_the_program_works(
    process: KafkaBroker, api: Http, works_now: Callable[[KafkaBroker], bool]
) -> None:
    process.reset()
    process.topics.create("orders")
    api.ask("POST", "/topics/orders/records", {"value": "first"})
    process.acls.add(principal="carol", deny="Describe", topic="orders")
    for _ in range(6):  # each round shows the checks after the denied ones
        if works_now(process):
            break
        found = least(api, "principal=User%3Acarol")
        process.acls.add(*[row["acl"] for row in found["acls"]])  # type: ignore[attr-defined]
        process.acls.remove(*found["remove"])  # type: ignore[misc]
    else:
        pytest.fail(f"denied: {process.denials()}")
    rows = least(api, "principal=User%3Acarol")["acls"]
    assert isinstance(rows, list)
    wanted = {"WRITE"} if works_now is produces else {"READ"}
    assert {
        row["acl"]["operation"] for row in rows if row["acl"]["resource_type"] == "TOPIC"
    } == wanted
    assert all(row["exists"] and row["apis"] and row["requests"] for row in rows)
    assert {acl.operation for acl in process.acls.list("carol")} >= wanted


def test_texts_have_the_chosen_format(process: KafkaBroker, api: Http) -> None:
    process.reset()
    process.topics.create("orders")
    assert not produces(process)
    text = str(least(api, "principal=User%3Acarol")["text"])
    assert "--operation" in text
    assert "--topic orders" in text
    strimzi = least(api, "client_id=shop&principal=User%3Acarol&format=strimzi")["text"]
    assert "KafkaUser" in str(strimzi)
    assert least(api, "client_id=nobody")["acls"] == []
    assert api.ask("GET", "/least-acls")[0] == 400
    assert api.ask("GET", "/least-acls?principal=User%3Ax&format=xml")[0] == 400


def test_what_is_no_principal_is_an_error(api: Http) -> None:
    for query in ("principal=", "principal=%3Acarol"):
        fails(api.ask("GET", f"/least-acls?{query}"), 400, "expected one such as alice")
