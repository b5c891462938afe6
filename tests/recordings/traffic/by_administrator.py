"""Let an administrator list everything with kafka-python, at the address in the argument."""

import contextlib
import sys

from kafka import KafkaAdminClient
from kafka.errors import KafkaError

from tests.recordings.traffic.by_kafka_python import settings


def main(address: str) -> None:
    admin = KafkaAdminClient(**settings(address, "admin"))
    topics = admin.list_topics()
    groups = admin.list_groups()
    admin.list_transactions()
    for group in groups:
        with contextlib.suppress(KafkaError):
            admin.list_group_offsets(group["group_id"])
    sys.stdout.write(f"{len(topics)} topics, {len(groups)} groups\n")
    admin.close()


if __name__ == "__main__":
    main(sys.argv[1])
