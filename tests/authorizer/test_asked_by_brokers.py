"""The table of requirements agrees with the checks that `record_asked_by_brokers.py` recorded."""

from pathlib import Path

import pytest

from kafka_shim.authorizer import requirements
from kafka_shim.authorizer.requirement import Requirement
from kafka_shim.authorizer.requirements import requirements_of_served_versions
from kafka_shim.protocol.api_versions import RELEASES, release_index
from kafka_shim.protocol.enums import ApiKey

RECORDED = Path(__file__).parent / "asked_by_brokers.txt"

SHARE_STATE = {"InitializeShareGroupState", "DeleteShareGroupState", "ReadShareGroupStateSummary"}
REFUSED_WITHOUT_A_QUESTION = {
    "3.0": {"ElectLeaders"},  # the first KRaft controllers lack these two
    "3.2": {"UpdateFeatures"},
    "3.9": {  # unstable versions: UNSUPPORTED_VERSION (35)
        *SHARE_STATE,
        *("ShareFetch", "ShareAcknowledge", "ReadShareGroupState", "WriteShareGroupState"),
    },
    "4.0": SHARE_STATE,
}
ON_A_CONTROLLER_LISTENER_ONLY = {"IncrementalAlterConfigs": {"CLUSTER_ACTION CLUSTER"}}


def recorded(release: str) -> dict[str, set[str]]:
    held: dict[str, set[str]] = {}
    for line in RECORDED.read_text().splitlines():
        head, _, questions = line.partition(": ")
        since, _, api = head.partition(" ")
        if release_index(since) <= release_index(release):
            held[api] = set() if questions == "-" else set(questions.split(", "))
    return held


def asked_by_handlers(row: Requirement) -> bool:
    return row.source != "GroupMetadataManager"  # only request handlers are recorded


def in_table(release: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for bound in filter(
        lambda bound: asked_by_handlers(bound.requirement), requirements_of_served_versions(release)
    ):
        questions = found.setdefault(bound.requirement.api.wire_name, set())
        questions |= {f"{n.operation.name} {n.resource_type.name}" for n in bound.needs}
        questions |= {"DESCRIBE TOPIC"} if bound.hidden_as else set()
    return found


def quiet_in_table(release: str) -> set[tuple[str, str]]:
    return {
        (bound.requirement.api.wire_name, f"{need.operation.name} {need.resource_type.name}")
        for bound in requirements_of_served_versions(release)
        for need in bound.needs
        # For a check on any resource of a type, the authorizer decides what is logged.
        if not need.log_if_denied and not need.any_name and asked_by_handlers(bound.requirement)
    }


@pytest.mark.parametrize("release", RELEASES)
def test_the_table_has_the_checks_of_real_brokers(release: str) -> None:
    broker = recorded(release)
    for api, questions in in_table(release).items():
        expected = {question.rstrip("~") for question in broker.get(api, set())}
        expected -= ON_A_CONTROLLER_LISTENER_ONLY.get(api, set())
        if api in REFUSED_WITHOUT_A_QUESTION.get(release, set()):
            assert not expected, api
        else:
            assert questions == expected, api


@pytest.mark.parametrize("release", RELEASES)
def test_denied_probes_are_logged_as_the_broker_does(release: str) -> None:
    served = in_table(release).keys() - REFUSED_WITHOUT_A_QUESTION.get(release, set())
    broker = {
        (api, question.rstrip("~"))
        for api, questions in recorded(release).items()
        for question in questions
        if question.endswith("~") and api in served
    }
    assert {(api, what) for api, what in quiet_in_table(release) if api in served} == broker


def test_the_recording_has_every_api_with_checks() -> None:
    apis = {line.partition(": ")[0].split()[1] for line in RECORDED.read_text().splitlines()}
    assert apis == {row.api.wire_name for row in requirements.TABLE}
    assert apis <= {key.wire_name for key in ApiKey}
