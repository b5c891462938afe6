"""Rows of the requirements table: their ids, needs and effects, bound to a release."""

from typing import Any

import pytest

from kafka_shim.authorizer.requirement import (
    Denial,
    DenialEffect,
    NeedAlternative,
    ReportedMissing,
    Requirement,
    bind_to_release,
    is_in_release,
)
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.enums import CLUSTER_NAME, ApiKey, Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode

DENIED = (Denial(ErrorCode.TOPIC_AUTHORIZATION_FAILED, DenialEffect.EACH),)


def row(**changes: Any) -> Requirement:
    parts: dict[str, Any] = {
        "api": ApiKey.FETCH,
        "name": "topic",
        "any_of": (NeedAlternative(Operation.READ, ResourceType.TOPIC),),
        "denied": DENIED,
    }
    return Requirement(**parts | changes)


def test_the_id_is_kafkas_name_and_the_rows() -> None:
    assert row(api=ApiKey.OFFSET_FETCH, name="group").id == "OffsetFetch.group"


def test_without_names_it_is_about_the_cluster() -> None:
    assert row().names == (CLUSTER_NAME,)


def test_rows_are_compared_by_identity() -> None:
    first, second = row(), row()
    assert first != second
    assert len({first, second, first}) == 2


@pytest.mark.parametrize(
    ("since", "until", "first", "last"),
    [
        (None, None, "0.11", RELEASES[-1]),
        ("2.8", None, "2.8", RELEASES[-1]),
        (None, "2.8", "0.11", "2.7"),
        ("0.11", "1.0", "0.11", "0.11"),
        ("2.8", "3.0", "2.8", "2.8"),
    ],
)
def test_since_is_with_and_until_without_its_release(
    since: str | None, until: str | None, first: str, last: str
) -> None:
    need = NeedAlternative(Operation.READ, ResourceType.TOPIC, since=since, until=until)
    held = [release for release in RELEASES if is_in_release(need, release)]
    assert (held[0], held[-1]) == (first, last)


def test_only_needs_of_the_release_are_bound() -> None:
    old = NeedAlternative(Operation.READ, ResourceType.GROUP, until="1.0")
    new = NeedAlternative(Operation.DESCRIBE, ResourceType.GROUP, since="1.0")
    old_error = Denial(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, DenialEffect.TOP, until="1.0")
    new_error = Denial(ErrorCode.GROUP_AUTHORIZATION_FAILED, DenialEffect.EACH, since="1.0")
    changed = row(any_of=(old, new), denied=(old_error, new_error))
    before, after = bind_to_release(changed, "0.11"), bind_to_release(changed, "1.0")
    assert (before.needs, before.denials) == ((old,), (old_error,))
    assert before.error is ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert (after.needs, after.denials) == ((new,), (new_error,))
    assert after.error is ErrorCode.GROUP_AUTHORIZATION_FAILED


def test_needs_keep_their_order() -> None:
    cluster = NeedAlternative(Operation.CREATE, ResourceType.CLUSTER)
    topic = NeedAlternative(Operation.CREATE, ResourceType.TOPIC, since="2.0")
    assert bind_to_release(row(any_of=(cluster, topic)), "2.0").needs == (cluster, topic)
    assert bind_to_release(row(any_of=(cluster, topic)), "1.1").needs == (cluster,)


@pytest.mark.parametrize(
    "absent",
    [
        row(since="4.0"),
        row(until="1.0"),
        row(any_of=(NeedAlternative(Operation.READ, ResourceType.TOPIC, since="4.0"),)),
    ],
)
def test_a_row_of_other_releases_checks_nothing(absent: Requirement) -> None:
    bound = bind_to_release(absent, "3.9")
    assert bound.needs == ()
    assert bound.denials == ()
    assert bound.error is ErrorCode.NONE
    assert bound.hidden_as is None
    assert not bound.is_checked_in_version(0)


def test_a_row_is_checked_in_its_versions_only() -> None:
    bound = bind_to_release(row(versions=(8, 10)), "2.8")
    assert [version for version in range(13) if bound.is_checked_in_version(version)] == [8, 9, 10]


def test_the_effect_follows_the_version() -> None:
    error = ErrorCode.GROUP_AUTHORIZATION_FAILED
    bound = bind_to_release(
        row(
            denied=(
                Denial(error, DenialEffect.TOP, (2, 7)),
                Denial(error, DenialEffect.EACH, (8, 9)),
            )
        ),
        "4.3",
    )
    assert [bound.effect_in_version(version) for version in (2, 7, 8)] == [
        DenialEffect.TOP,
        DenialEffect.TOP,
        DenialEffect.EACH,
    ]
    with pytest.raises(KeyError, match=r"Fetch\.topic is not asked in version 1"):
        bound.effect_in_version(1)


@pytest.mark.parametrize("first", [True, False])
def test_hiding_ends_with_a_release(first: bool) -> None:
    hidden = ReportedMissing(
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, until="1.0", before_operation_check=first
    )
    before, after = (bind_to_release(row(hidden=hidden), release) for release in ("0.11", "1.0"))
    assert before.hidden_as is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert before.describe_first is first
    assert after.hidden_as is None
    assert not after.describe_first


def test_an_unknown_release_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"unknown Kafka release `5\.0`"):
        bind_to_release(row(since="1.0"), "5.0")
