"""A transaction of librdkafka whose broker is killed and restarted in between.

    python -m tests.shim.storage.sent_offsets BOOTSTRAP rebootstrap|none used|unused

Print `ready`, wait for a line on standard input, send the offsets of the transaction, commit it,
and print the committed offset. `used`: the transaction has sent offsets also before. The second
argument is the client's `metadata.recovery.strategy`.
"""

import sys
import uuid

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

RECORDS = 5
WAIT_S = 20.0
SEND_S = 3.0


def main(bootstrap: str, strategy: str, use: str) -> None:
    name = f"sent-offsets-{uuid.uuid4()}"
    client = {"bootstrap.servers": bootstrap, "log_level": 0, "reconnect.backoff.max.ms": 200}
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(name, 1, 1)])[name].result(WAIT_S)
    producer = Producer(
        {**client, "transactional.id": name, "metadata.recovery.strategy": strategy}
    )
    consumer = Consumer({**client, "group.id": name, "enable.auto.commit": False})
    offsets = [TopicPartition(name, 0, RECORDS)]
    metadata = consumer.consumer_group_metadata()
    producer.init_transactions(WAIT_S)
    producer.begin_transaction()
    for number in range(RECORDS):
        producer.produce(name, b"%d" % number)
    producer.flush(WAIT_S)
    if use == "used":
        producer.send_offsets_to_transaction(offsets, metadata, WAIT_S)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    producer.send_offsets_to_transaction(offsets, metadata, SEND_S)
    producer.commit_transaction(WAIT_S)
    (committed,) = consumer.committed([TopicPartition(name, 0)], WAIT_S)
    consumer.close()
    sys.stdout.write(f"committed {committed.offset}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
