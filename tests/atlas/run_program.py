"""Run one program of the atlas: `python -m tests.atlas.run_program NAME [VERSION]`.

The broker is at $KAFKA_BOOTSTRAP_SERVERS. The administrator first creates the topic, with records,
and a group; then the program's commands run as alice. The exit code is 1 if a command does not do
what it should.
"""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from confluent_kafka import (
    Consumer,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from tests.atlas.built_folders import FOLDERS
from tests.atlas.program import (
    ADMIN,
    ADMIN_PASSWORD,
    GROUP,
    PASSWORD,
    RECORDS,
    SHARE_GROUP,
    TOPIC,
    USER,
    Program,
    Step,
)
from tests.atlas.programs import find_program

STEP_SECONDS, COMMIT_SECONDS, STOP_SECONDS = 180, 90, 20
_SET = AlterConfigOpType.SET


def main() -> int:
    program = find_program(*sys.argv[1:])
    bootstrap = os.environ["KAFKA_BOOTSTRAP_SERVERS"]
    admin = _Administrator(bootstrap)
    admin.prepare_topics_and_group(program)
    with tempfile.TemporaryDirectory() as folder:
        words = _words(bootstrap, folder) | {"{broker}": admin.broker_id()}
        for name, text in {"client.properties": _SETTINGS, **program.files}.items():
            Path(folder, name).write_text(_with_words(text, words))
        as_admin = words | {"{jaas}": _jaas(ADMIN, ADMIN_PASSWORD)}
        Path(folder, "admin.properties").write_text(_with_words(_SETTINGS, as_admin))
        return 0 if all(_step_succeeds(step, words, admin) for step in program.steps) else 1


_SETTINGS = """security.protocol=SASL_PLAINTEXT
sasl.mechanism=PLAIN
sasl.jaas.config={jaas}
default.api.timeout.ms=20000
request.timeout.ms=10000
"""
"""The properties with which Java's clients log in."""


def _words(bootstrap: str, folder: str) -> dict[str, str]:
    return {
        "{bootstrap}": bootstrap,
        "{folder}": folder,
        "{settings}": f"{folder}/client.properties",
        "{admin-settings}": f"{folder}/admin.properties",
        "{jaas}": _jaas(USER, PASSWORD),
    }


def _jaas(user: str, password: str) -> str:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    return f'{module} required username="{user}" password="{password}";'


def _with_words(text: str, words: Mapping[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(word, value)
    for name, folder in FOLDERS.items():
        if f"{{{name}}}" in text:
            text = text.replace(f"{{{name}}}", str(folder()))
    return text


class _Administrator:
    """Prepares topics and groups, and sees what programs have done."""

    def __init__(self, bootstrap: str) -> None:
        self._settings: dict[str, str | int | float | bool] = {
            "bootstrap.servers": bootstrap,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": ADMIN,
            "sasl.password": ADMIN_PASSWORD,
        }
        self._client = AdminClient(self._settings)

    def prepare_topics_and_group(self, program: Program) -> None:
        self._delete_what_earlier_programs_left()
        new = [NewTopic(topic, 1, 1) for topic in program.topics]
        for future in self._client.create_topics(new).values():
            future.result(30)
        producer = Producer(self._settings)
        producer_topic = program.topics[0]
        for number in range(RECORDS):
            producer.produce(producer_topic, str(number).encode())
        assert producer.flush(30) == 0
        if TOPIC in program.topics:
            self._commit_offset_that_stays()
        entry = ConfigEntry("share.auto.offset.reset", "earliest", incremental_operation=_SET)
        resource = ConfigResource(ResourceType.GROUP, SHARE_GROUP, incremental_configs=[entry])
        for future in self._client.incremental_alter_configs([resource]).values():
            future.result(30)

    def _commit_offset_that_stays(self) -> None:
        """Commit for the group; a real broker deletes offsets of a deleted topic a little later.

        A consumer does it: librdkafka's AdminClient (2.16.1) is killed by SIGSEGV if the response
        to OffsetFetch has NOT_COORDINATOR, as on a real broker that has just started.
        """
        consumer = Consumer(self._settings | {"group.id": GROUP})
        deadline = time.monotonic() + COMMIT_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(KafkaException):  # the broker has no group coordinator yet
                consumer.commit(offsets=[TopicPartition(TOPIC, 0, 1)], asynchronous=False)
                time.sleep(0.5)
                (partition,) = consumer.committed([TopicPartition(TOPIC, 0)], timeout=10)
                if partition.offset == 1:
                    consumer.close()
                    return
        raise AssertionError("the group's offset does not stay")

    def broker_id(self) -> str:
        return str(min(self._client.list_topics(timeout=30).brokers))

    def record_count(self, topic: str) -> int:
        """Return the end of partition 0, which is 0 if the topic does not exist."""
        if topic not in self._client.list_topics(timeout=30).topics:
            return 0
        partition = TopicPartition(topic, 0)
        (future,) = self._client.list_offsets({partition: OffsetSpec.latest()}).values()
        return int(future.result(30).offset)

    def _delete_what_earlier_programs_left(self) -> None:
        present = set(self._client.list_topics(timeout=30).topics)
        topics = [topic for topic in present if not topic.startswith("__")]
        groups = [group.group_id for group in self._client.list_consumer_groups().result(30).valid]
        deleted = [*(self._client.delete_topics(topics).values() if topics else ())]
        deleted += self._client.delete_consumer_groups(groups).values() if groups else []
        for future in deleted:
            with contextlib.suppress(KafkaException):  # the group still has a member
                future.result(30)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and any(
            not topic.startswith("__") for topic in self._client.list_topics(timeout=30).topics
        ):
            time.sleep(0.1)


def _step_succeeds(step: Step, words: Mapping[str, str], admin: _Administrator) -> bool:
    argv = [_with_words(word, words) for word in step.argv]
    process = subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"KAFKA_USER": USER, "KAFKA_PASSWORD": PASSWORD},
    )
    run = _run_service if step.is_service else _run_to_end
    output, is_expected = run(process, step, admin)
    if not is_expected:
        sys.stderr.write(f"`{' '.join(argv)}` did not do what it should; it printed\n{output}\n")
    return is_expected


def _run_to_end(
    process: subprocess.Popen[str], step: Step, admin: _Administrator
) -> tuple[str, bool]:
    try:
        output = process.communicate(step.stdin, STEP_SECONDS)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[0], False
    return output, process.returncode == 0 and _is_as_expected(step, output, admin)


def _run_service(
    process: subprocess.Popen[str], step: Step, admin: _Administrator
) -> tuple[str, bool]:
    """Run until the output and the topic are as expected, the process ends or time is over."""
    lines: list[str] = []
    assert process.stdout is not None
    reader = threading.Thread(target=lines.extend, args=(process.stdout,), daemon=True)
    reader.start()
    deadline, is_expected = time.monotonic() + STEP_SECONDS, False
    while not is_expected and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.5)
        is_expected = _is_as_expected(step, "".join(lines), admin)
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
    reader.join(STOP_SECONDS)
    return "".join(lines), is_expected


def _is_as_expected(step: Step, output: str, admin: _Administrator) -> bool:
    if re.search(step.expected, output, re.DOTALL) is None:
        return False
    if not step.expected_topic:
        return True
    return admin.record_count(step.expected_topic) >= step.expected_records


if __name__ == "__main__":
    sys.exit(main())
