"""Request versions for which brokers return an error agree with recorded responses."""

import json
from pathlib import Path

import pytest

from kafka_shim.conformance.error_scenarios import SINCE
from kafka_shim.protocol.error_codes import ErrorCode

RECORDED: dict[str, dict[str, dict[str, int]]] = json.loads(
    Path(__file__).with_name("error_versions_recorded.json").read_text()
)
UNRECORDED = {("EndTxn", ErrorCode.TRANSACTION_ABORTABLE)}
"""No broker returns this error; the version is from Kafka's definition of the message."""
UNASKABLE = {"JoinGroup FENCED_INSTANCE_ID"}
"""Lower versions lack the field that leads to the error."""
ROWS = [(release, row) for release, rows in RECORDED.items() for row in rows]


@pytest.mark.parametrize(("release", "row"), ROWS)
def test_each_version_gets_the_error_of_a_real_broker(release: str, row: str) -> None:
    api, name = row.split()
    error = ErrorCode[name]
    first, before = SINCE.get((api, error), (0, None))
    for version, code in RECORDED[release][row].items():
        if int(version) >= first:
            assert code == error, version
        elif before is not None:
            assert code == before, version
        else:
            assert code != error, version


def test_each_difference_between_versions_is_recorded() -> None:
    seen = set()
    for rows in RECORDED.values():
        for row, codes in rows.items():
            if len(set(codes.values())) > 1 or row in UNASKABLE:
                api, name = row.split()
                seen.add((api, ErrorCode[name]))
    assert seen | UNRECORDED == set(SINCE)
