"""The rules of the test kit for authorizers agree with recordings of real brokers."""

import json
from functools import cache
from typing import Any

import pytest

from tests.docs.shown import ROOT
from tests.oracle.authorizer_rules.__main__ import FILE, unanswered_cases
from tests.oracle.authorizer_rules.questions import Json, recorded_answers, recorded_cases, steps_of
from tests.oracle.authorizer_rules.rule_table import NAMED_RULES

BROKERS = {"2.8": "2.8.2", "3.9": "3.9.2", "4.4": "4.4.0"}
"""The real brokers whose responses were recorded, by the release of the rules."""


@cache
def file() -> Json:
    content: Json = json.loads(FILE.read_text(encoding="utf-8"))
    return content


def answer_of(step: Json, release: str) -> Any:
    """Return the answer to a step of the class that the recorded broker of a release has."""
    answer = step["is"]
    return answer[release][0] if isinstance(answer, dict) else answer


def test_the_file_has_all_cases() -> None:
    """`python -m tests.oracle.authorizer_rules` writes it."""
    made = json.loads(json.dumps(unanswered_cases()))
    assert len(made) == len(file()["cases"])
    for case, written in zip(made, file()["cases"], strict=True):
        assert written["case"] == case["case"]
        assert written["acls"] == case["acls"]
        unanswered = [
            {key: value for key, value in step.items() if key != "is"} for step in written["steps"]
        ]
        assert unanswered == case["steps"]
    assert {case["rule"] for case in file()["cases"]} == {rule.name for rule in NAMED_RULES}


@pytest.mark.parametrize("release", BROKERS)
def test_the_answers_are_those_of_a_real_broker(release: str) -> None:
    """Each recorded response to a rule's request says the same as the answers to its questions."""
    path = ROOT / "vectors" / BROKERS[release] / "rules.json"
    groups = {
        group["given"]["prefix"]: group["vectors"]
        for group in json.loads(path.read_text(encoding="utf-8"))["groups"]
    }
    cases = {case["vectors"]: case for case in file()["cases"] if "vectors" in case}
    compared = 0
    for rule, made in recorded_cases():
        if not rule.exists_in(BROKERS[release]):
            continue
        case, vectors = cases[made["vectors"]], iter(groups[made["vectors"]])
        steps = iter(case["steps"])
        for ask, request in zip(
            rule.asks, rule.scenario(case["vectors"], "4.4.0").steps, strict=True
        ):
            asked = [next(steps) for _ in steps_of(ask, request.request)]
            then = next(vectors)["then"]
            if not asked:
                continue
            compared += 1
            assert_agrees(ask.api.wire_name, asked, then, release)
    assert compared > 1000


def assert_agrees(api: str, asked: list[Json], then: Json, release: str) -> None:
    recorded = recorded_answers(api, asked[-1], then)
    given = [answer_of(step, release) for step in asked]
    if len(asked) > 1:  # one of two permissions is enough
        assert ("1" in given) is (recorded == "1"), asked
    elif "create" in asked[0]:
        assert [result == "ok" for result in given[0]] == recorded, asked
    elif isinstance(recorded, str):
        pairs = zip(recorded, given[0], strict=True)
        assert all(one in ("?", other) for one, other in pairs), (asked, recorded)
    else:
        assert given[0] == recorded, asked
