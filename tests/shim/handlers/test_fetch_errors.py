"""Fetch: aborted_transactions of a denied partition, by release."""

import pytest

from kafka_shim.protocol.enums import ApiKey
from tests.shim.play import Stage
from tests.support.record_requests import fetch_request


@pytest.mark.parametrize(("release", "aborted"), [("2.7", None), ("2.8", None), ("3.9", [])])
def test_aborted_transactions_of_a_denied_partition_are_null_or_empty(
    release: str, aborted: list[object] | None
) -> None:
    stage = Stage(release)
    stage.topic("t")
    ((partition,),) = (
        response.partitions
        for response in stage.ask(ApiKey.FETCH, 12, fetch_request("t"), "User:alice").responses
    )
    assert (partition.error_code, partition.high_watermark) == (29, -1)
    assert partition.aborted_transactions == aborted
