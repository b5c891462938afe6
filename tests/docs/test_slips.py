"""The vectors on docs/guides/vectors.md are what its rules say."""

import re
from typing import Any

import pytest

from kafka_shim.conformance.vectors.vector_files import Vector, VectorGroup, read_vector_file
from tests.docs.shown import ROOT

PAGE = (ROOT / "docs" / "guides" / "vectors.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.+?) \| .+? \| `(.+?)` \|$", PAGE, re.MULTILINE)
CODES = {
    "access-matrix/m28/1": (29,),
    "access-matrix/m30/1": (),
    "access-matrix/m70/1": (31,),
    "access-matrix/m72/1": (),
    "access-matrix/m146/1": (29,),
    "access-matrix/m19/1": (),
    "access-matrix/m174/1": (29,),
    "access-matrix/m180/2": (29,),
    "requests/s13/14": (3,),
    "requests/s24/17": (),
}
LITERAL, PREFIXED = 3, 4


@pytest.fixture(scope="module")
def groups() -> dict[str, tuple[VectorGroup, Vector]]:
    """Return all vectors of the files on the page with their groups, by id."""
    files = [
        read_vector_file(ROOT / "vectors" / "4.4.0" / f"{subject}.json")
        for subject in ("access-matrix", "requests")
    ]
    return {
        each.id.removeprefix("4.4.0/"): (group, each)
        for vectors in files
        for group in vectors.groups
        for each in group.vectors
    }


def test_there_are_ten_rules() -> None:
    assert len(ROWS) == 10
    assert {vector_id.removeprefix("4.4.0/") for _, vector_id in ROWS} == set(CODES)


@pytest.mark.parametrize(("rule", "vector_id"), ROWS)
def test_a_vector_is_about_the_api_of_its_rule(
    rule: str, vector_id: str, groups: dict[str, tuple[VectorGroup, Vector]]
) -> None:
    short = vector_id.removeprefix("4.4.0/")
    _, vector = groups[short]
    assert vector.then.error_codes == CODES[short]
    assert vector.when.api in rule or rule.startswith("WRITE of any topic")


def test_operations_of_the_cluster_and_hidden_offsets(
    groups: dict[str, tuple[VectorGroup, Vector]],
) -> None:
    assert _response(groups, "access-matrix/m19/1")["clusterAuthorizedOperations"] == 8096
    assert _response(groups, "access-matrix/m30/1")["groups"][0]["topics"] == []


def test_a_denied_read_leaves_describe(groups: dict[str, tuple[VectorGroup, Vector]]) -> None:
    group, _ = groups["requests/s13/14"]
    denied = [
        (acl.resource_name, acl.principal)
        for acl in group.given.acls
        if (acl.operation, acl.permission_type, acl.resource_type) == ("READ", "DENY", "TOPIC")
    ]
    assert denied == [("s13.log", "User:bob")]
    topics = {each["name"]: each for each in _response(groups, "requests/s13/14")["topics"]}
    operations = topics["s13.log"]["topicAuthorizedOperations"]
    read, describe = 1 << 3, 1 << 8
    assert topics["s13.log"]["errorCode"] == 0
    assert operations & describe
    assert not operations & read


def test_match_returns_other_names(groups: dict[str, tuple[VectorGroup, Vector]]) -> None:
    _, vector = groups["requests/s24/17"]
    assert vector.when.request["resourceNameFilter"] == "s24-g-app"
    resources = _response(groups, "requests/s24/17")["resources"]
    patterns = {(each["resourceName"], each["patternType"]) for each in resources}
    assert patterns == {("*", LITERAL), ("s24-", PREFIXED)}


def _response(groups: dict[str, tuple[VectorGroup, Vector]], short: str) -> Any:
    _, vector = groups[short]
    return vector.then.response
