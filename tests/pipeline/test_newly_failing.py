"""`what-breaks` says how many requests newly fail: as many as of clients run under the new ACLs.

The clients send the same requests to a broker with each set of ACLs. A request fails if its
response has an error of authorization.
"""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.authorizer.model import Acl
from kafka_shim.cli import main
from kafka_shim.client.client import connect
from kafka_shim.client.config import ClientConfig, Login
from kafka_shim.policy.formats import format_acls_losslessly
from kafka_shim.protocol.enums import CLUSTER_NAME, ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafka_shim.protocol.messages.describe_cluster import DescribeClusterRequest
from kafka_shim.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.protocol.messages.list_groups import ListGroupsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
)
from kafka_shim.protocol.responses import nonzero_error_codes
from kafka_shim.shim.config import SecurityProtocol
from kafka_shim.testing import start
from tests.support.acls import make_acl
from tests.support.checked_folders import PIPELINE

pytestmark = PIPELINE

USERS = ("alice", "bob")
REFUSALS = {29, 30, 31, 53, 65, 88}
_LISTED = MetadataRequest(topics=None, allow_auto_topic_creation=False)
REQUESTS: list[tuple[ApiKey, Any]] = [
    (
        ApiKey.CREATE_TOPICS,
        CreateTopicsRequest([CreatableTopic("new", 1, 1)], 1000, validate_only=True),
    ),
    (ApiKey.METADATA, _LISTED),
    (
        ApiKey.METADATA,
        MetadataRequest([MetadataRequestTopic(name="orders")], allow_auto_topic_creation=False),
    ),
    (ApiKey.DESCRIBE_CLUSTER, DescribeClusterRequest(include_cluster_authorized_operations=True)),
    (ApiKey.DESCRIBE_LOG_DIRS, DescribeLogDirsRequest()),
    (ApiKey.LIST_GROUPS, ListGroupsRequest()),
    (
        ApiKey.OFFSET_FETCH,
        OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=None)]),
    ),
    (ApiKey.FIND_COORDINATOR, FindCoordinatorRequest(key_type=0, coordinator_keys=["g"])),
    (ApiKey.INIT_PRODUCER_ID, InitProducerIdRequest(None, 1000)),
    (
        ApiKey.DELETE_TOPICS,
        DeleteTopicsRequest([DeleteTopicState(name="never-there")], timeout_ms=1000),
    ),
]
_TOPIC, _GROUP, _CLUSTER = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER
GRANTS = [
    *((_TOPIC, "new", operation) for operation in (Operation.CREATE, Operation.DESCRIBE_CONFIGS)),
    *((_TOPIC, "orders", operation) for operation in (Operation.DESCRIBE, Operation.WRITE)),
    *((_CLUSTER, CLUSTER_NAME, operation) for operation in (Operation.CREATE, Operation.DESCRIBE)),
    *((_GROUP, "g", operation) for operation in (Operation.DESCRIBE, Operation.READ)),
]
CREATE, CONFIGS = GRANTS[0], GRANTS[1]
PAIRS: list[tuple[list[int], list[int]]] = [
    ([0, 1], [0]),  # without DESCRIBE_CONFIGS, the topic is created
    ([0], []),  # DESCRIBE_CONFIGS was denied before, and now CREATE is
    ([0, 1, 2, 5, 6], [1, 2]),
]
_RNG = random.Random(54)
for _ in range(5):
    _FIRST, _SECOND = ([n for n in range(len(GRANTS)) if _RNG.random() < 0.5] for _ in range(2))
    PAIRS.append((_FIRST, _SECOND))


def granted(numbers: list[int]) -> list[Acl]:
    return [
        make_acl(operation, name, principal=f"User:{user}", resource_type=kind)
        for user in USERS
        for kind, name, operation in (GRANTS[number] for number in numbers)
    ]


def refused(acls: list[Acl], folder: Path, name: str) -> list[bool]:
    """Run the clients on a broker with these ACLs; return whether each request was refused."""
    file = folder / f"{name}.json"
    file.write_text(format_acls_losslessly(acls, "json"))
    outcomes = []
    with start(
        acls=file,
        record=folder / name,
        users=dict.fromkeys(USERS, "secret"),
        topics=["orders"],
        in_process=False,
    ) as broker:
        for user in USERS:
            config = ClientConfig(SecurityProtocol.SASL_PLAINTEXT, Login("PLAIN", user, "secret"))
            with connect(broker.listeners["SASL_PLAINTEXT"], config) as client:
                for key, request in REQUESTS:
                    response = client.send_request(key, request)
                    codes = set(nonzero_error_codes(response, client.negotiated_version(key)))
                    if key == ApiKey.CREATE_TOPICS:  # the other code is about shown settings
                        codes = {topic.error_code for topic in response.topics}
                    outcomes.append(bool(codes & REFUSALS))
    return outcomes


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_as_many_requests_newly_fail_as_of_clients_under_the_candidate(
    pair: tuple[list[int], list[int]], tmp_path: Path, capsys: Any
) -> None:
    before, after = (
        refused(granted(side), tmp_path, n) for side, n in zip(pair, "ab", strict=True)
    )
    newly = sum(not was and now for was, now in zip(before, after, strict=True))
    words = ["pipeline", "what-breaks", str(tmp_path / "a"), "--acls", str(tmp_path / "b.json")]
    assert main([*words, "--engine", "duckdb", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["requests_newly_failing"] == newly


@pytest.mark.parametrize("pair", PAIRS[:3], ids=str)
def test_denials_are_of_refused_requests(
    pair: tuple[list[int], list[int]], tmp_path: Path, capsys: Any
) -> None:
    """Without a refused request there is no denial, and DESCRIBE_CONFIGS alone refuses none."""
    outcomes = refused(granted(pair[1]), tmp_path, "trace")
    assert (
        main(["pipeline", "denials", str(tmp_path / "trace"), "--engine", "duckdb", "--json"]) == 0
    )
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert "DESCRIBE_CONFIGS" not in {row["operation"] for row in rows}
    assert bool(rows) == any(outcomes)
