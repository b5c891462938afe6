"""One form of an ACL: what Python accepts, the HTTP API and state files accept, too."""

from pathlib import Path
from typing import Any

import pytest

from kafka_shim.shim.faults.spec import parse_fault_acls
from kafka_shim.testing import BrokerError, KafkaBroker, start


def principals(broker: KafkaBroker) -> list[str]:
    return [row.principal for row in broker.acls.list()]


@pytest.mark.parametrize("principal", ["shop", ["shop"], "User:shop"])
def test_a_name_without_a_type_is_that_of_a_user(principal: Any, tmp_path: Path) -> None:
    rule = {"principal": principal, "allow": "Write", "topic": "orders"}
    state = tmp_path / "state.yaml"
    state.write_text(f"users: {{shop: secret}}\ntopics: {{orders: 1}}\nacls: [{rule}]\n")
    with start(in_process=True, state=state) as broker:
        assert principals(broker) == ["User:shop"]
        broker._call_control_api("POST", "/acls/remove", {"acls": [rule]})
        assert principals(broker) == []
        broker._call_control_api("POST", "/acls", {"acls": [rule]})
        assert principals(broker) == ["User:shop"]
    assert [acl.principal for acl in parse_fault_acls([rule])] == ["User:shop"]


def test_an_empty_principal_is_an_error() -> None:
    rule = {"principal": "", "allow": "Write", "topic": "orders"}
    with start(in_process=True) as broker, pytest.raises(BrokerError, match="principal"):
        broker._call_control_api("POST", "/acls", {"acls": [rule]})
