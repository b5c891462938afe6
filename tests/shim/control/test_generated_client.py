"""A client that a generator makes from the OpenAPI document, and what it can do."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.shim.control.broker_routes import BROKER_ROUTES
from kafka_shim.shim.control.openapi import document
from kafka_shim.shim.control.routes import ROUTES, Route
from kafka_shim.shim.testing import start

PROGRAM = """
import sys
from made import Client
from made.api.default import (
    add_acls, add_fault, create_broker, create_topic, fault, health, list_acls, list_brokers,
    list_topics, matrix, remove_broker, remove_fault, reset, state,
)
from made.models import (
    AclRules, AclRulesAclsItem, Effect, Match, NewBroker, NewFault, NewTopic, Problem, Trigger,
)

with Client(base_url=sys.argv[1]) as client:
    assert health.sync(client=client).status == "ok"
    made = create_topic.sync(client=client, body=NewTopic(name="orders", partitions=3))
    assert (made.name, made.partitions) == ("orders", 3)
    refused = create_topic.sync(client=client, body=NewTopic(name="orders"))
    assert isinstance(refused, Problem) and "orders" in refused.error, refused
    rule = {"principal": "User:alice", "allow": ["Read", "Write"], "topic": "orders"}
    rules = AclRules(acls=[AclRulesAclsItem.from_dict(rule)])
    assert len(add_acls.sync(client=client, body=rules).acls) == 2
    [read] = [
        one for one in list_acls.sync(client=client, principal="User:alice").acls
        if one.operation == "READ"
    ]
    assert (read.resource_name, read.permission) == ("orders", "ALLOW")
    [row] = [one for one in matrix.sync(client=client).rows if one.principal == "User:alice"]
    assert row.allowed == [["READ", "WRITE", "DESCRIBE"]]
    wanted = NewFault(
        action=Effect(error="REQUEST_TIMED_OUT"), match=Match(api="Fetch"),
        trigger=Trigger(times=2),
    )
    added = add_fault.sync(client=client, body=wanted)
    found = fault.sync(str(added.id), client=client)
    assert (found.fired, found.match.api, found.trigger.times) == (0, "Fetch", 2)
    assert remove_fault.sync(str(added.id), client=client).done
    assert reset.sync(client=client).done
    assert list_topics.sync(client=client).topics == []
    assert state.sync(client=client).release
    row = create_broker.sync(client=client, body=NewBroker(kafka_version="2.7", topics=["own"]))
    with Client(base_url=sys.argv[1] + row.path) as own:
        assert [topic.name for topic in list_topics.sync(client=own).topics] == ["own"]
        assert state.sync(client=own).release == "2.7"
    assert remove_broker.sync(row.id, client=client).done
    assert [row.id for row in list_brokers.sync(client=client).brokers] == ["first"]
print("all done")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the package `made`; openapi-python-client makes it."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "openapi.json").write_text(json.dumps(document("1.0")))
    words = ["generate", "--path", "openapi.json", "--meta", "none", "--output-path", "made"]
    done = subprocess.run(
        [sys.executable, "-m", "openapi_python_client", *words, "--fail-on-warning"],
        cwd=folder, capture_output=True, text=True, check=False, env=_environment(),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_route_is_in_the_client(folder: Path) -> None:
    made = {path.stem for path in (folder / "made" / "api" / "default").glob("*.py")}
    routes: list[Route[Any]] = [*BROKER_ROUTES, *ROUTES]
    assert made - {"__init__"} == {route.name for route in routes}


def test_the_client_works(folder: Path) -> None:
    (folder / "program.py").write_text(PROGRAM)
    with start() as broker:
        done = subprocess.run(
            [sys.executable, "program.py", str(broker.control_url)],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.stdout == "all done\n", done.stderr


def _environment() -> dict[str, str]:
    """With the programs beside this Python, of which the generator runs one (ruff)."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return os.environ | {"PATH": path}
