"""Closed connections are logged: the first for a reason at once, repetitions as a count."""

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.metadata import MetadataRequest
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.network.close_log import PERIOD_MS, CloseLog
from kafka_shim.text.logs import configure_logging
from tests.shim.wire import connected, serving


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line for line in capsys.readouterr().err.splitlines() if "shim.connection" in line]


def test_repeated_closings_are_logged_once_and_then_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logging("info", "console")
    clock = ManualClock()
    close_log = CloseLog(clock)
    for port in range(78):
        reason = f"{port} bytes were early"  # reasons that differ in numbers only are the same
        close_log.log_close("10.0.0.1", port, "SASL", reason, "User:ANONYMOUS")
    (line,) = lines(capsys)
    assert "peer=10.0.0.1:0" in line
    clock.advance(PERIOD_MS)
    (line,) = lines(capsys)
    assert "count=77" in line
    assert "0 bytes were early" in line
    clock.advance(PERIOD_MS)
    assert lines(capsys) == []
    close_log.log_close("10.0.0.1", 99, "SASL", "it was early", "User:ANONYMOUS")
    assert len(lines(capsys)) == 1


def test_counts_are_logged_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info", "console")
    clock = ManualClock()
    close_log = CloseLog(clock)
    for _ in range(3):
        close_log.log_close("10.0.0.1", 1, "SASL", "it was early", "User:ANONYMOUS")
    close_log.log_counts()
    assert "count=2" in lines(capsys)[1]
    clock.advance(PERIOD_MS)
    assert lines(capsys) == []


def test_logged_lines_and_memory_are_limited_for_many_reasons_and_hosts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logging("info", "console")
    close_log = CloseLog(ManualClock())
    for number in range(100):
        close_log.log_close(
            "10.0.0.1",
            1,
            "SASL",
            f"scheme {chr(97 + number % 26) * (1 + number // 26)}",
            "User:ANONYMOUS",
        )
    assert len(lines(capsys)) == 9
    for number in range(5000):
        close_log.log_close(
            f"10.1.{number // 250}.{number % 250}", 1, "SASL", "x", "User:ANONYMOUS"
        )
    assert len(lines(capsys)) < 1010
    assert len(close_log._object_counts) < 1010


@pytest.mark.asyncio
async def test_a_client_without_login_is_logged_with_the_setting_it_needs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logging("info", "console")
    async with serving() as broker:
        for _ in range(20):
            async with connected(broker, "SASL_PLAINTEXT") as wire:
                await wire.send(wire.request(ApiKey.METADATA, 1, MetadataRequest(topics=None)))
                assert await wire.is_closed()
        (line,) = lines(capsys)
        assert "client sent Metadata" in line
        assert "set security.protocol=SASL_PLAINTEXT" in line
    (line,) = lines(capsys)
    assert "count=19" in line
