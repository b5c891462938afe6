"""The table of requirements: complete, sound, and with the known changes between releases."""

from itertools import pairwise

import pytest

from kafka_shim.authorizer import requirements
from kafka_shim.authorizer.requirement import (
    OPEN_TO_ALL,
    Denial,
    DenialEffect,
    NeedAlternative,
    Requirement,
    bind_to_release as bind_row,
)
from kafka_shim.authorizer.requirements import TABLE, requirements_of_served_versions, terms
from kafka_shim.protocol.api_versions import (
    RELEASES,
    highest_unstable_versions,
    release_index,
    served_versions,
)
from kafka_shim.protocol.codec.message_spec import StructSpec, load_message_spec
from kafka_shim.protocol.enums import CLUSTER_NAME, ApiKey, Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode

ERRORS = {
    ResourceType.TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ResourceType.GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ResourceType.CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ResourceType.TRANSACTIONAL_ID: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    ResourceType.USER: ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
}
OTHER_ERRORS = {
    "Fetch.follower": "since 1.1 the error for a follower is about the topic",
    "InitProducerId.idempotent": "WRITE on any topic stands in for the cluster",
    "Metadata.auto_create": "the error is about the topic, whichever CREATE is missing",
}
BY_ID = {row.id: row for row in TABLE}

every_row = pytest.mark.parametrize("row", TABLE, ids=lambda row: row.id)


def needed(row_id: str, release: str) -> list[str]:
    bound = requirements.bound_requirements(release)[BY_ID[row_id]]
    return [f"{need.operation.name} {need.resource_type.name}" for need in bound.needs]


def served_or_unstable_versions(api: ApiKey, release: str) -> range:
    low, high = served_versions(release).get(api, (0, -1))
    return range(low, max(high, highest_unstable_versions(release).get(api, -1)) + 1)


def test_every_api_of_every_release_has_checks_or_is_open_to_all() -> None:
    for release in RELEASES:
        asking = {bound.requirement.api for bound in requirements_of_served_versions(release)}
        for key in served_versions(release) | highest_unstable_versions(release):
            assert key in asking or key in OPEN_TO_ALL, (release, key)


def test_every_open_api_has_a_reason() -> None:
    assert all(OPEN_TO_ALL.values())
    conditional = {row.api for row in TABLE} & OPEN_TO_ALL.keys()
    assert conditional == {
        ApiKey.CREATE_DELEGATION_TOKEN,
        ApiKey.DESCRIBE_DELEGATION_TOKEN,
        ApiKey.DESCRIBE_CLUSTER,
    }
    always = [row.id for row in TABLE if row.api in conditional and not row.when]
    assert not always, "remove the API from OPEN_TO_ALL in authorizer/requirement.py"


def test_ids_are_unique() -> None:
    assert len(BY_ID) == len(TABLE)


def test_every_row_has_one_name_in_the_package() -> None:
    named = [value for value in vars(requirements).values() if isinstance(value, Requirement)]
    assert len(named) == len(TABLE)
    assert set(named) == set(TABLE)


def test_constants_are_named_after_their_api() -> None:
    for name, value in vars(requirements).items():
        if isinstance(value, Requirement):
            assert name.startswith(value.api.name), name


def test_the_table_is_in_key_order() -> None:
    assert all(row.api <= next_.api for row, next_ in pairwise(TABLE))


@every_row
def test_periods_and_versions_are_sound(row: Requirement) -> None:
    dates: list[Requirement | NeedAlternative | Denial] = [row, *row.any_of, *row.denied]
    for dated in dates:
        first, last = dated.since or RELEASES[0], dated.until
        assert last is None or release_index(first) < release_index(last)
    for low, high in (row.versions, *(denial.versions for denial in row.denied)):
        assert 0 <= low <= high


@every_row
def test_every_row_is_checked_in_some_version(row: Requirement) -> None:
    assert any(bind_row(row, release).needs for release in RELEASES)
    if row.api not in {ApiKey.ENVELOPE, ApiKey.ALLOCATE_PRODUCER_IDS}:
        assert any(
            bound.requirement is row
            for release in RELEASES
            for bound in requirements_of_served_versions(release)
        )


@every_row
def test_no_need_occurs_twice_in_a_release(row: Requirement) -> None:
    for release in RELEASES:
        needs = bind_row(row, release).needs
        assert len({(n.operation, n.resource_type, n.any_name) for n in needs}) == len(needs)


@every_row
def test_each_version_has_one_effect_and_all_the_same_error(row: Requirement) -> None:
    for release in RELEASES:
        bound = bind_row(row, release)
        assert {denial.error for denial in bound.denials} <= {bound.error}
        for version in served_or_unstable_versions(row.api, release):
            if bound.is_checked_in_version(version):
                valid = [d for d in bound.denials if d.versions[0] <= version <= d.versions[1]]
                assert len(valid) == 1, (release, version)
                assert bound.effect_in_version(version) is valid[0].effect


@every_row
def test_the_error_is_that_of_the_resource(row: Requirement) -> None:
    if row.id in OTHER_ERRORS:
        return
    for release in RELEASES:
        bound = requirements.bound_requirements(release)[row]
        last = bound.needs[-1:]
        if bound not in requirements_of_served_versions(release):
            continue
        if {denial.effect for denial in bound.denials} <= {
            *(DenialEffect.HIDE, DenialEffect.VALUE, DenialEffect.STATUS),
        }:
            assert bound.error in {ErrorCode.NONE, ERRORS[ResourceType.TOPIC]}
        elif release == "0.11" and last == terms.TOPIC_DESCRIBE:
            assert bound.error is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        else:
            assert bound.error is ERRORS[last[0].resource_type], release


def test_the_exceptions_are_needed() -> None:
    for row_id in OTHER_ERRORS:
        bounds = [requirements.bound_requirements(release)[BY_ID[row_id]] for release in RELEASES]
        assert any(b.error is not ERRORS[b.needs[-1].resource_type] for b in bounds), row_id


@every_row
def test_the_last_need_is_logged_unless_it_filters(row: Requirement) -> None:
    for release in RELEASES:
        bound = bind_row(row, release)
        if bound.needs and not bound.needs[-1].log_if_denied:
            quiet = {denial.effect for denial in bound.denials} <= {
                DenialEffect.HIDE,
                DenialEffect.VALUE,
            }
            assert quiet or bound.needs[-1].any_name, release


def test_0_11_hides_topics_unless_the_operation_is_describe() -> None:
    for bound in requirements_of_served_versions("0.11"):
        if {need.resource_type for need in bound.needs} != {ResourceType.TOPIC}:
            assert bound.hidden_as is None
        elif bound.needs[0].operation is not Operation.DESCRIBE:
            assert bound.hidden_as is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, bound.requirement.id
        elif DenialEffect.HIDE not in {denial.effect for denial in bound.denials}:
            assert bound.error is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, bound.requirement.id
    assert not any(bound.hidden_as for bound in requirements_of_served_versions("1.0"))


def resolves(path: str, struct: StructSpec) -> bool:
    head, _, tail = path.partition(".")
    for field in struct.fields:
        if field.attribute == head.removesuffix("[]"):
            assert field.is_array == head.endswith("[]"), path
            if not tail:
                return field.struct is None
            return field.struct is not None and resolves(tail, field.struct)
    return False


@every_row
def test_names_are_paths_into_the_messages(row: Requirement) -> None:
    own = [name for need in row.any_of for name in need.source_of_names]
    for path in (*row.names, *own):
        if path == CLUSTER_NAME:
            assert {need.resource_type for need in row.any_of if not need.any_name} == {
                ResourceType.CLUSTER
            }
            continue
        for part in path.split(":"):
            kind = "Response" if part.startswith("response.") else "Request"
            message = load_message_spec(f"{row.api.wire_name}{kind}")
            assert resolves(part.removeprefix("response."), message.top_level_struct), part


@pytest.mark.parametrize(
    ("row_id", "release", "before", "after"),
    [
        ("OffsetFetch.group", "1.0", ["READ GROUP"], ["DESCRIBE GROUP"]),  # KIP-163
        ("CreateTopics.topic", "2.0", ["CREATE CLUSTER"], ["CREATE CLUSTER", "CREATE TOPIC"]),
        ("Metadata.auto_create", "2.0", ["CREATE CLUSTER"], ["CREATE CLUSTER", "CREATE TOPIC"]),
        ("ListGroups.group", "2.1", ["DESCRIBE CLUSTER"], ["DESCRIBE CLUSTER", "DESCRIBE GROUP"]),
        (
            "OffsetForLeaderEpoch.topic",
            "2.1",
            ["CLUSTER_ACTION CLUSTER"],
            ["CLUSTER_ACTION CLUSTER", "DESCRIBE TOPIC"],
        ),
        ("CreateTopics.configs", "2.4", [], ["DESCRIBE_CONFIGS TOPIC"]),
        ("Produce.idempotent", "2.8", ["IDEMPOTENT_WRITE CLUSTER"], []),  # KIP-679
        (
            "InitProducerId.idempotent",
            "2.8",
            ["IDEMPOTENT_WRITE CLUSTER"],
            ["IDEMPOTENT_WRITE CLUSTER", "WRITE TOPIC"],
        ),
        ("DeleteTopics.topic", "3.0", ["DELETE TOPIC"], ["DELETE CLUSTER", "DELETE TOPIC"]),
        ("CreatePartitions.topic", "3.0", ["ALTER TOPIC"], ["CREATE CLUSTER", "CREATE TOPIC"]),
        ("CreatePartitions.topic", "3.1", ["CREATE CLUSTER", "CREATE TOPIC"], ["ALTER TOPIC"]),
        (
            "DescribeDelegationToken.token",
            "3.3",
            ["DESCRIBE DELEGATION_TOKEN"],
            ["DESCRIBE DELEGATION_TOKEN", "DESCRIBE_TOKENS USER"],
        ),
        (
            "WriteTxnMarkers.cluster",
            "3.8",
            ["CLUSTER_ACTION CLUSTER"],
            ["ALTER CLUSTER", "CLUSTER_ACTION CLUSTER"],
        ),
        ("ConsumerGroupHeartbeat.topic", "4.0", [], ["DESCRIBE TOPIC"]),
        ("ConsumerGroupDescribe.topic", "4.0", [], ["DESCRIBE TOPIC"]),
        ("DescribeConfigs.group", "4.0", [], ["DESCRIBE_CONFIGS GROUP"]),
        ("ShareGroupHeartbeat.topic", "4.1", [], ["DESCRIBE TOPIC"]),
        ("InitProducerId.two_phase_commit", "4.1", [], ["TWO_PHASE_COMMIT TRANSACTIONAL_ID"]),
    ],
)
def test_rows_change_between_releases(
    row_id: str, release: str, before: list[str], after: list[str]
) -> None:
    assert needed(row_id, RELEASES[release_index(release) - 1]) == before
    assert needed(row_id, release) == after


@pytest.mark.parametrize(
    ("row_id", "release", "before", "after"),
    [
        ("Metadata.topic", "1.0", 3, 29),
        ("Fetch.follower", "1.1", 31, 29),
        ("CreateTopics.topic", "2.0", 31, 29),
        ("OffsetForLeaderEpoch.topic", "2.1", 31, 29),
        ("ListGroups.group", "2.1", 31, 0),
    ],
)
def test_errors_that_a_release_changed(row_id: str, release: str, before: int, after: int) -> None:
    earlier = RELEASES[release_index(release) - 1]
    assert bind_row(BY_ID[row_id], earlier).error == before
    assert bind_row(BY_ID[row_id], release).error == after


@pytest.mark.parametrize(
    ("row_id", "release", "version", "effect"),
    [
        ("OffsetFetch.group", "3.4", 1, DenialEffect.EACH),
        ("OffsetFetch.group", "3.5", 1, DenialEffect.EMPTY),
        ("OffsetFetch.group", "4.0", 1, DenialEffect.EACH),
        ("OffsetFetch.group", "4.1", 1, DenialEffect.EACH),
        ("OffsetFetch.group", "4.3", 7, DenialEffect.TOP),
        ("OffsetFetch.group", "4.3", 8, DenialEffect.EACH),
        ("DescribeLogDirs.cluster", "4.3", 2, DenialEffect.EMPTY),
        ("DescribeLogDirs.cluster", "4.3", 3, DenialEffect.TOP),
        ("ElectLeaders.cluster", "4.3", 0, DenialEffect.EACH),
        ("ElectLeaders.cluster", "4.3", 1, DenialEffect.BOTH),
        ("FindCoordinator.group", "4.3", 3, DenialEffect.TOP),
        ("FindCoordinator.group", "4.3", 4, DenialEffect.EACH),
    ],
)
def test_effects_that_depend_on_the_version(
    row_id: str, release: str, version: int, effect: DenialEffect
) -> None:
    assert bind_row(BY_ID[row_id], release).effect_in_version(version) is effect


def test_only_init_producer_id_accepts_a_right_on_any_resource() -> None:
    any_named = [row.id for row in TABLE if any(need.any_name for need in row.any_of)]
    assert any_named == ["InitProducerId.idempotent"]


def test_in_force_leaves_out_checks_of_later_versions() -> None:
    in_2_2 = {bound.requirement.id for bound in requirements_of_served_versions("2.2")}
    in_2_3 = {bound.requirement.id for bound in requirements_of_served_versions("2.3")}
    assert "Metadata.cluster_operations" in in_2_3 - in_2_2  # KIP-430
    assert not any(row_id.startswith("Envelope") for row_id in in_2_3)


def test_bound_rows_are_cached() -> None:
    assert requirements.bound_requirements("4.3") is requirements.bound_requirements("4.3")
    assert requirements.bound_requirements("4.3").keys() == set(TABLE)
