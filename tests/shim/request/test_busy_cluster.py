"""Requests that tests alter are valid: an error would hide what an extreme value does."""

from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks.arrays.messages import Case
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.dispatching.dispatcher import PendingExchange
from tests.shim.play import ADMIN
from tests.shim.request.busy_cluster import BusyCluster
from tests.shim.request.consequences import FOLLOWERS

ERRORS = {
    ApiKey.LEADER_AND_ISR: {11, 77},
    ApiKey.STOP_REPLICA: {11, 77},
    ApiKey.UPDATE_METADATA: {11, 77},
    ApiKey.CONTROLLED_SHUTDOWN: {77},
    ApiKey.SASL_HANDSHAKE: {34},
    ApiKey.SASL_AUTHENTICATE: {34},
    ApiKey.ELECT_LEADERS: {84},
    ApiKey.ALTER_PARTITION: {77},
    ApiKey.UPDATE_FEATURES: {42, 95},
    ApiKey.ADD_RAFT_VOTER: {35},
    ApiKey.REMOVE_RAFT_VOTER: {35},
    ApiKey.UNREGISTER_CONTROLLER: {136},
    ApiKey.DELETE_SHARE_GROUP_OFFSETS: {69},
}
"""Errors of requests that no client can make succeed, or that change nothing."""


def codes(response: Any) -> Iterator[int]:
    """Yield the error codes in a response."""
    for name in getattr(response, "__struct_fields__", ()):
        content = getattr(response, name)
        if name.endswith("error_code") and content:
            yield content
        for row in content if isinstance(content, list) else [content]:
            yield from codes(row)


@pytest.mark.heavy
@pytest.mark.parametrize("release", ["0.11", "2.4", "2.8", "3.6", "4.0", ""])
def test_the_last_version_of_every_request_succeeds(release: str) -> None:
    advertised = BusyCluster(release).dispatcher.apis.advertised
    for api, (_, version) in advertised.items():
        cluster = BusyCluster(release)
        request = cluster.valid(Case(api, version, (), is_equal=False))
        found = set(codes(cluster.responded(api, version, request)))
        assert found <= ERRORS.get(api, set()), f"{api.wire_name} {version}: {found}"


@pytest.mark.parametrize("release", ["0.11", "2.8", ""])
def test_the_requests_that_follow_succeed(release: str) -> None:
    cluster = BusyCluster(release)
    advertised = cluster.dispatcher.apis.advertised
    for api, values in FOLLOWERS:
        if api not in advertised:
            continue
        version = advertised[api][1]
        request = cluster.valid(Case(api, version, (), is_equal=False), values)
        response = cluster.ask(api, version, request, ADMIN)
        if not isinstance(response, PendingExchange):
            assert not set(codes(response)), api.wire_name
