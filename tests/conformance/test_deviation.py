"""What deviates from a vector, and how reports call it."""

from typing import Any

import pytest

from kafka_shim.conformance.vectors.deviation import first_deviation


def deviation_text(expected: Any, actual: Any, list_in_order: str | None = None) -> str:
    found = first_deviation(expected, actual, list_in_order)
    return "" if found is None else f"{found.text} / {found.mistake}"


@pytest.mark.parametrize(
    ("expected", "actual", "text"),
    [
        ({"errorCode": 0}, {"errorCode": 0, "records": "<some>"}, ""),
        ({"errorCode": 29}, {"errorCode": 29, "records": None, "offset": -1, "isIt": False}, ""),
        ({"errorCode": 29}, {"errorCode": 29, "leader": {"id": 0, "host": ""}}, ""),
        ({"errorCode": 29}, {"errorCode": 29, "errorMessage": "no"}, ""),
        (
            {"errorCode": 30, "rows": []},
            {"errorCode": 30, "rows": [{"id": 1}]},
            'rows has also {"id":1} / returns rows beside GROUP_AUTHORIZATION_FAILED (30)',
        ),
        (
            {"errorCode": 29},
            {"errorCode": 29, "leader": {"id": 1}},
            (
                'leader: {"id":1}, expected nothing beside 29'
                " / returns leader beside TOPIC_AUTHORIZATION_FAILED (29)"
            ),
        ),
        (
            {"errorCode": 31, "rows": [{"name": "a"}]},
            {"errorCode": 31, "rows": [{"name": "a", "value": "x"}]},
            (
                'rows[].value: "x", expected nothing beside 31'
                " / returns value beside CLUSTER_AUTHORIZATION_FAILED (31)"
            ),
        ),
        (
            {"name": "a", "errorCode": 29},
            {"name": "b", "errorCode": 0},
            (
                "errorCode: 0, expected 29"
                " / returns no error instead of TOPIC_AUTHORIZATION_FAILED (29)"
            ),
        ),
        (
            {"rows": [{"name": "a"}]},
            {"rows": [{"name": "a"}, {"name": "b"}]},
            'rows has also {"name":"b"} / returns more elements of rows than allowed',
        ),
        (
            {"rows": [{"name": "a"}]},
            {"rows": []},
            'rows has no {"name":"a"} / leaves out elements of rows',
        ),
        ({"records": "<some>"}, {"records": None}, None),
        ({"records": "<some>"}, {"records": "<some>"}, ""),
        ({"rows": [{"id": 1}, {"id": 2}]}, {"rows": [{"id": 2}, {"id": 1}]}, ""),
    ],
)
def test_a_deviation_says_what_the_broker_does(
    expected: Any, actual: Any, text: str | None
) -> None:
    wanted = 'records: null, expected "<some>" / returns no records' if text is None else text
    assert deviation_text(expected, actual) == wanted


def test_one_list_is_compared_in_its_order() -> None:
    expected = {"results": [{"errorCode": 0}, {"errorCode": 42}]}
    actual = {"results": [{"errorCode": 42}, {"errorCode": 0}]}
    assert deviation_text(expected, actual) == ""
    assert deviation_text(expected, actual, "results") == (
        "results[0].errorCode: 42, expected 0"
        " / returns results in another order than that of the request"
    )
    assert deviation_text(expected, expected, "results") == ""
