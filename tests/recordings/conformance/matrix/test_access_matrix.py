"""Outcomes of checks by row and release; the recordings of real brokers agree."""

from collections.abc import Iterator

import pytest

from kafka_shim.authorizer.requirements import TABLE
from kafka_shim.protocol.api_versions import parse_minor_release
from tests.recordings.conformance.matrix.access_matrix import (
    GOLDEN,
    QUESTIONS,
    UNASKED,
    Answering,
    Matrix,
    printed,
    shim_of,
)
from tests.recordings.conformance.scenario import Scenario, load, recordings
from tests.support.generated_files import outdated

CONFIRMED = [name for name in recordings() if name.endswith("-matrix")]


def test_the_matrix_is_as_it_was_reviewed() -> None:
    assert printed() + "\n" == GOLDEN.read_text(), outdated("tests/golden/access_matrix.txt")


def test_every_row_of_the_table_has_a_question_or_a_reason() -> None:
    assert QUESTIONS.keys() | UNASKED.keys() == {row.id for row in TABLE}


def test_real_brokers_of_the_main_eras_were_recorded() -> None:
    assert {"4.3.1-matrix", "2.7.2-matrix"} <= set(CONFIRMED)


@pytest.mark.parametrize("name", CONFIRMED)
def test_a_recording_has_the_same_requests(name: str) -> None:
    release = parse_minor_release(name.removesuffix("-matrix"))
    asked = [_without_responses(scene) for scene in load(name)]
    assert asked == [_without_responses(scene) for scene in Matrix(release).scenes()]


@pytest.mark.parametrize("name", CONFIRMED)
def test_a_real_broker_confirms_the_matrix(name: str) -> None:
    release = parse_minor_release(name.removesuffix("-matrix"))
    responses = {scene.prefix: scene.steps[-1].response for scene in load(name)}
    confirmed = dict(_outcomes(release, lambda scene: responses[scene.prefix]))
    assert dict(_outcomes(release, shim_of(release))) == confirmed


def _outcomes(release: str, response_to: Answering) -> Iterator[tuple[str, tuple[str, ...]]]:
    for asked in Matrix(release).rows(response_to):
        yield asked.row.id, asked.outcomes


def _without_responses(scene: Scenario) -> Scenario:
    for step in scene.steps:
        step.response = {}
    return scene
