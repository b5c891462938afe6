"""aiokafka consumes records in a group and commits."""

import asyncio
import os

from aiokafka import AIOKafkaConsumer  # type: ignore[import-untyped]


async def main() -> None:
    consumer = AIOKafkaConsumer(
        "orders",
        group_id="billing",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        bootstrap_servers=os.environ["KAFKA_BOOTSTRAP_SERVERS"],
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="PLAIN",
        sasl_plain_username=os.environ["KAFKA_USER"],
        sasl_plain_password=os.environ["KAFKA_PASSWORD"],
    )
    await asyncio.wait_for(consumer.start(), 20)
    for _ in range(4):  # the group has committed the first record
        await asyncio.wait_for(consumer.getone(), 30)
    await consumer.commit()
    await consumer.stop()


asyncio.run(main())
