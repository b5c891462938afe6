"""The vectors on docs/guides/vectors.md are what its rules say."""

import re

import pytest

from kafka_shim.shim.conformance.vectors.vector_files import Vector, read_vector_file
from tests.docs.shown import ROOT

PAGE = (ROOT / "docs" / "guides" / "vectors.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.+?) \| .+? \| `(.+?)` \|$", PAGE, re.MULTILINE)
CODES = {
    "m28/1": (29,),
    "m30/1": (),
    "m70/1": (31,),
    "m72/1": (),
    "m146/1": (29,),
    "m56/1": (29,),
    "m19/1": (),
    "m174/1": (29,),
    "m180/2": (29,),
    "m16/1": (29,),
}


@pytest.fixture(scope="module")
def matrix() -> dict[str, Vector]:
    vectors = read_vector_file(ROOT / "vectors" / "4.4.0" / "access-matrix.json")
    return {each.id: each for group in vectors.groups for each in group.vectors}


def test_there_are_ten_rules() -> None:
    assert len(ROWS) == 10


@pytest.mark.parametrize(("rule", "vector_id"), ROWS)
def test_a_vector_is_about_the_api_of_its_rule(
    rule: str, vector_id: str, matrix: dict[str, Vector]
) -> None:
    vector = matrix[vector_id]
    short = vector_id.removeprefix("4.4.0/access-matrix/")
    assert vector.then.error_codes == CODES[short]
    assert vector.when.api in rule or rule.startswith("WRITE of any topic")


def test_operations_of_the_cluster_and_hidden_offsets(matrix: dict[str, Vector]) -> None:
    assert (matrix["4.4.0/access-matrix/m19/1"].then.response or {})[
        "clusterAuthorizedOperations"
    ] == 8096
    assert (matrix["4.4.0/access-matrix/m30/1"].then.response or {})["groups"][0]["topics"] == []
