"""aiokafka produces records."""

import asyncio
import os

from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]


async def main() -> None:
    producer = AIOKafkaProducer(
        bootstrap_servers=os.environ["KAFKA_BOOTSTRAP_SERVERS"],
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="PLAIN",
        sasl_plain_username=os.environ["KAFKA_USER"],
        sasl_plain_password=os.environ["KAFKA_PASSWORD"],
    )
    await producer.start()
    await asyncio.wait_for(producer.send_and_wait("orders", b"one"), 20)
    await producer.stop()


asyncio.run(main())
