"""A user's own authorizer decides all accesses, as docs/guides/custom-authorizer.md describes."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shim.authorizer.authorizer import Authorizer
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.observing.request_history import History
from tests.shim.play import ADMIN, Stage
from tests.support.acl_filters import ANY_ACL

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def examples_on_the_path(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    yield
    sys.modules.pop("office_hours", None)


def stage(hours: str) -> Stage:
    return Stage(authorizer="office_hours:OfficeHours", properties={"office.hours": hours})


def test_the_example_is_an_authorizer() -> None:
    assert isinstance(stage("0-24").cluster.policy.authorizer, Authorizer)


@pytest.mark.parametrize(
    ("hours", "error"),
    [("0-24", ErrorCode.NONE), ("0-0", ErrorCode.CLUSTER_AUTHORIZATION_FAILED)],
)
def test_an_own_authorizer_decides(hours: str, error: ErrorCode) -> None:
    assert stage(hours).ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL, ADMIN).error_code == error


def test_a_remedy_says_that_the_class_may_decide_otherwise() -> None:
    closed, history = stage("0-0"), History()
    closed.dispatcher.set_history(history)
    closed.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL, "User:bob")
    entry = list(history)[-1]
    assert entry.denied_request is not None
    assert entry.denied_request.remedy is not None
    assert entry.denied_request.remedy.advice.startswith("OfficeHours may decide otherwise")


def test_acls_are_created_and_listed_by_the_own_authorizer() -> None:
    open_all_day = stage("0-24")
    creation = AclCreation(2, "t", 3, "User:alice", "*", Operation.READ, 3)
    request = CreateAclsRequest(creations=[creation])
    (result,) = open_all_day.ask(ApiKey.CREATE_ACLS, 3, request).results
    assert result.error_code == ErrorCode.NONE
    (resource,) = open_all_day.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL).resources
    assert (resource.resource_type, resource.resource_name) == (ResourceType.TOPIC, "t")


def test_an_exception_at_startup_is_reported_clearly() -> None:
    with pytest.raises(ConfigError, match="office"):
        stage("early-late")
