"""Requests with different decisions but equal responses of a real broker."""

from pathlib import Path
from typing import Any

import pytest

from kafka_shim.authorizer.model import WILDCARD
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.trace_format.entries import Request, Response
from tests.pipeline.circumstances import differing, is_same
from tests.pipeline.real_pairs import Half, Pair, recorded
from tests.pipeline.test_derived import rows, write
from tests.pipeline.traces import START_US

RELEASE = "4.3.1"
PAIRS = {pair.name: pair for pair in recorded(RELEASE)}
ONLY_LOGGED = "records are not logged"


@pytest.mark.parametrize("name", PAIRS)
def test_equal_responses_with_different_decisions_exist(name: str) -> None:
    assert is_same(PAIRS[name], "request log")
    assert is_same(PAIRS[name], "proxy") == (name != ONLY_LOGGED)
    assert differing(PAIRS[name])


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("name", PAIRS)
def test_derived_decisions_are_right_for_both(name: str, half: int, tmp_path: Path) -> None:
    logged = {
        (decided.operation, decided.resource_type, decided.resource_name): decided.allowed
        for decided in PAIRS[name].halves[half].decisions
        if decided.api == ApiKey(PAIRS[name].api).wire_name
    }
    for row in derived(PAIRS[name], PAIRS[name].halves[half], tmp_path):
        if row["allowed"] is None or row["role"] == "probe":
            continue
        ways = [(row["operation"], row["resource_type"], row["resource_name"])]
        ways += [tuple(text.split("|", 2)) for text in row["instead"]]
        found = [logged[way] for way in ways if way in logged]
        is_logged = not any(way[2] == WILDCARD for way in ways)  # checks of any name: only denials
        assert any(found) == row["allowed"] or (row["allowed"] and not is_logged), row


def derived(pair: Pair, half: Half, folder: Path) -> list[dict[str, Any]]:
    request, response = bytes.fromhex(half.request), bytes.fromhex(half.response)
    answer = Response(0, 0, START_US + 1, pair.api, pair.version, response)
    write(folder, [Request(0, 0, START_US, request), answer])
    return rows("accesses", folder)
