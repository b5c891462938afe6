"""DeleteTopics: permission checks as in the authorizer log of a real 4.3.1."""

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.observing.request_history import History
from tests.pipeline.real_accesses import PRINCIPAL, Decision, recorded
from tests.pipeline.real_requests import GRANTS, TOPICS, asks
from tests.shim.play import Stage

RELEASE = "4.3.1"
EXCHANGES = {
    exchange.name: exchange
    for exchange in recorded(RELEASE).exchanges
    if exchange.api == ApiKey.DELETE_TOPICS.wire_name
}


@pytest.mark.parametrize("name", EXCHANGES)
def test_checks_are_those_that_the_broker_logged(name: str) -> None:
    stage = Stage(RELEASE)
    ids = {topic: stage.topic(topic).topic_id for topic in TOPICS}
    for kind, names in GRANTS.items():
        for resource, operations in names.items():
            for operation in operations:
                stage.allow(PRINCIPAL, operation, kind, resource)
    (wanted,) = [ask for ask in asks(ids) if ask.api is ApiKey.DELETE_TOPICS and ask.name == name]
    history = History()
    stage.dispatcher.set_history(history)
    session = stage.session(PRINCIPAL)
    stage.send(wanted.api, EXCHANGES[name].version, wanted.request, session)
    (seen,) = history
    asked = [
        Decision(
            record.action.operation.name,
            record.action.resource_type.name,
            record.action.resource_name,
            record.decision.allowed,
        )
        for record in seen.records
    ]
    logged = EXCHANGES[name].decisions
    assert set(asked) == set(logged)
    assert len(asked) == len(logged)
    order = [decision.operation for decision in logged]
    assert [
        decision.operation for decision in asked
    ] == order  # DESCRIBE on all topics, then DELETE
