"""A reset ends requests of earlier connections, which no longer count for any limit."""

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.metadata import MetadataRequest
from kafka_shim.text.logs import configure_logging
from tests.shim.network.test_connection_quotas import is_responded, limited, several
from tests.shim.wire import connected, serving, until

pytestmark = pytest.mark.asyncio


async def test_connections_from_before_the_reset_do_not_count_for_the_rate() -> None:
    """The rate is 1 connection a second, measured over 10 s."""
    async with (
        limited({"max.connection.creation.rate": "1"}) as (broker, _),
        several(broker, 11) as before,
    ):
        assert not await is_responded(before[-1])
        broker.reset_to_initial_state()
        async with several(broker, 11) as wires:
            assert [await is_responded(wire) for wire in wires] == [True] * 10 + [False]


async def test_connections_from_before_the_reset_do_not_count_for_the_rate_of_their_address() -> (
    None
):
    async with limited({}) as (broker, _):
        rate = {"connection_creation_rate": 1.0}
        for _ in range(2):
            broker.cluster.quotas.alter_limits([({"ip": "127.0.0.1"}, rate)])
            async with several(broker, 11) as wires:
                assert [await is_responded(wire) for wire in wires] == [True] * 10 + [False]
                broker.reset_to_initial_state()


async def test_the_first_closed_connection_after_a_reset_is_logged(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logging("info", "console")
    logged = 0

    def is_logged() -> bool:
        nonlocal logged
        logged += "".join(capsys.readouterr()).count("connection closed")
        return logged > 0

    async with serving() as broker:
        for count in (3, 1):
            for _ in range(count):
                async with connected(broker, "SASL_PLAINTEXT") as wire:
                    request = MetadataRequest(topics=None)
                    await wire.send(wire.request(ApiKey.METADATA, 1, request))
                    assert await wire.is_closed()
            await until(is_logged)  # a thread may write the line, also that before the reset
            assert logged == 1
            logged = 0
            broker.reset_to_initial_state()
