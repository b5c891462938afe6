"""Connect, Debezium, MirrorMaker, Streams, Spring Kafka, and the connectors of Flink and Spark."""

import json
import sys
from pathlib import Path
from typing import Any

from tests.atlas.built_folders import DEBEZIUM, FLINK_CONNECTOR, SERVICES, SPRING_KAFKA
from tests.atlas.kafka_tools import JAVA_FLAGS
from tests.atlas.program import GROUP, NEW_TOPIC, RECORDS, TOPIC, TRANSACTION, Program, Step

_CLIENTS = Path(__file__).parent / "clients"
SPARK_CONNECTOR = "4.2.0"

_LOGIN = """
security.protocol=SASL_PLAINTEXT
sasl.mechanism=PLAIN
sasl.jaas.config={jaas}
"""


def _prefixed_login(*prefixes: str) -> str:
    """Return the settings of a log-in, plain and with each prefix."""
    lines = _LOGIN.split()
    return "".join(f"{prefix}{line}\n" for prefix in ("", *prefixes) for line in lines)


_WORKER = f"""bootstrap.servers={{bootstrap}}
key.converter=org.apache.kafka.connect.storage.StringConverter
value.converter=org.apache.kafka.connect.storage.StringConverter
offset.flush.interval.ms=1000
plugin.discovery=only_scan
{_prefixed_login("producer.", "consumer.", "admin.")}"""


_STANDALONE_WORKER = f"""{_WORKER}offset.storage.file.filename={{folder}}/offsets
listeners=http://127.0.0.1:0
"""
_DISTRIBUTED_WORKER = f"""{_WORKER}group.id=connect-cluster
config.storage.topic=connect-configs
offset.storage.topic=connect-offsets
status.storage.topic=connect-status
config.storage.replication.factor=1
offset.storage.replication.factor=1
status.storage.replication.factor=1
"""


def _connect(task: str, does: str, connector: str, step: Step) -> Program:
    files = {
        "worker.properties": _STANDALONE_WORKER,
        "connector.properties": connector,
        "in.txt": "a\nb\n",
    }
    return Program(f"connect-{task}", SERVICES, does, (step,), files=files)


def _java_service(jars: str, main: str, *words: str, **expected: Any) -> Step:
    argv = ("java", *JAVA_FLAGS, "-cp", f"{{{jars}}}/*", main, *words)
    return Step(argv, is_service=True, **expected)


_STANDALONE = "org.apache.kafka.connect.cli.ConnectStandalone"
_CONNECT_FILES = ("{folder}/worker.properties", "{folder}/connector.properties")
_MIRROR = f"""clusters=source, target
source.bootstrap.servers={{bootstrap}}
target.bootstrap.servers={{bootstrap}}
source->target.enabled=true
source->target.topics=orders
source->target.groups=billing
replication.factor=1
checkpoints.topic.replication.factor=1
heartbeats.topic.replication.factor=1
offset-syncs.topic.replication.factor=1
offset.storage.replication.factor=1
status.storage.replication.factor=1
config.storage.replication.factor=1
{_prefixed_login("source.", "target.")}"""


def _word_count(name: str, does: str, settings: str, *prefixes: str) -> Program:
    step = _java_service(
        "streams",
        "org.apache.kafka.streams.examples.wordcount.WordCountDemo",
        "{folder}/streams.properties",
        expected_topic="streams-wordcount-output",
        expected_records=1,
    )
    login = "bootstrap.servers={bootstrap}\napplication.id=word-count\n" + _prefixed_login()
    own = "state.dir={folder}/state\ncommit.interval.ms=500\n"
    files = {"streams.properties": login + own + settings}
    return Program(
        name,
        SERVICES,
        f"Kafka Streams' WordCountDemo, with a store and a repartitioned topic{does}",
        (step,),
        files=files,
        prefixes=prefixes,
        topics=("streams-plaintext-input", "streams-wordcount-output"),
    )


def _connect_distributed(
    task: str, does: str, settings: dict[str, str], **expected: Any
) -> Program:
    java = ("java", *JAVA_FLAGS, "-cp", "{connect}/*")
    script = str(_CLIENTS / "connect_distributed.py")
    argv = (sys.executable, script, "{folder}/worker.properties", "{folder}/connector.json")
    main = "org.apache.kafka.connect.cli.ConnectDistributed"
    step = Step((*argv, *java, main), is_service=True, **expected)
    files = {
        "worker.properties": _DISTRIBUTED_WORKER,
        "connector.json": json.dumps({"tasks.max": "1", **settings}),
        "in.txt": "a\nb\n",
    }
    return Program(f"connect-distributed-{task}", SERVICES, does, (step,), files=files)


_FILE_CONNECTOR = "org.apache.kafka.connect.file.FileStream"
_DEBEZIUM = """name=billing
connector.class=io.debezium.connector.mariadb.MariaDbConnector
tasks.max=1
database.hostname=127.0.0.1
database.port=
database.user=debezium
database.password=secret
database.server.id=7
topic.prefix=db
table.include.list=shop.items
topic.creation.default.replication.factor=1
topic.creation.default.partitions=1
schema.history.internal.kafka.bootstrap.servers={bootstrap}
schema.history.internal.kafka.topic=db-history
""" + _prefixed_login("schema.history.internal.producer.", "schema.history.internal.consumer.")


def _debezium(records: int) -> Step:
    """Return a start of Debezium, after which the table's topic has so many records."""
    script = str(_CLIENTS / "mariadb_and_connect.py")
    java = ("java", *JAVA_FLAGS, "-cp", "{debezium}/*", _STANDALONE, *_CONNECT_FILES)
    return Step(
        (sys.executable, script, "{debian}", "{folder}", *java),
        is_service=True,
        expected_topic="db.shop.items",
        expected_records=records,
    )


def _spring(task: str, does: str) -> Program:
    source = str(_CLIENTS / "java" / "SpringKafka.java")
    argv = ("java", *JAVA_FLAGS, "-cp", "{spring}/*", source, task)
    return Program(f"spring-kafka-{task}", SPRING_KAFKA, does, (Step(argv, "done"),))


_OPENED_TO_FLINK = tuple(
    f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in ("java.lang", "java.util", "java.time")
)


def _flink(task: str, guarantee: str, does: str, *prefixes: str) -> Program:
    source = str(_CLIENTS / "java" / "FlinkJob.java")
    flags = ("-Xmx768m", *JAVA_FLAGS[1:], *_OPENED_TO_FLINK)
    step = Step(
        ("java", *flags, "-cp", "{flink}/*", source, guarantee),
        expected_topic=NEW_TOPIC,
        expected_records=RECORDS,
    )
    return Program(
        f"flink-{task}",
        FLINK_CONNECTOR,
        does,
        (step,),
        prefixes=prefixes,
        topics=(TOPIC, NEW_TOPIC),
    )


JAVA_PROGRAMS = (
    _connect(
        "source",
        "Connect, standalone: produces the lines of a file",
        "name=lines\nconnector.class=org.apache.kafka.connect.file.FileStreamSourceConnector\n"
        f"tasks.max=1\nfile={{folder}}/in.txt\ntopic={TOPIC}\n",
        _java_service(
            "connect",
            _STANDALONE,
            *_CONNECT_FILES,
            expected_topic=TOPIC,
            expected_records=RECORDS + 2,
        ),
    ),
    _connect(
        "sink",
        "Connect, standalone: consumes and writes lines",
        f"name={GROUP}\nconnector.class=org.apache.kafka.connect.file.FileStreamSinkConnector\n"
        f"tasks.max=1\ntopics={TOPIC}\n",
        _java_service("connect", _STANDALONE, *_CONNECT_FILES, expected=r"0\s+1\s+2\s+3\s+4"),
    ),
    Program(
        "mirror-maker-2",
        SERVICES,
        "MirrorMaker 2 mirrors a topic and a group, both clusters being this one",
        (
            _java_service(
                "connect",
                "org.apache.kafka.connect.mirror.MirrorMaker",
                "{folder}/mirror.properties",
                expected_topic=f"source.{TOPIC}",
                expected_records=RECORDS,
            ),
        ),
        needs_lists=True,
        files={"mirror.properties": _MIRROR},
    ),
    _connect_distributed(
        "source",
        "Connect, a new distributed worker: produces the lines of a file",
        {"connector.class": f"{_FILE_CONNECTOR}SourceConnector", "topic": TOPIC}
        | {"file": "{folder}/in.txt"},
        expected_topic=TOPIC,
        expected_records=RECORDS + 2,
    ),
    _connect_distributed(
        "sink",
        "Connect, a new distributed worker: consumes and writes lines",
        {"connector.class": f"{_FILE_CONNECTOR}SinkConnector", "topics": TOPIC},
        expected=r"0\s+1\s+2\s+3\s+4",
    ),
    Program(
        "debezium-mariadb",
        DEBEZIUM,
        "Debezium on Connect, standalone: produces rows of MariaDB, and a new one after a restart",
        (_debezium(2), _debezium(3)),
        files={
            "worker.properties": _STANDALONE_WORKER.replace("StringConverter", "JSON").replace(
                "storage.JSON", "json.JsonConverter"
            ),
            "connector.properties": _DEBEZIUM,
        },
    ),
    _spring("producer", "KafkaTemplate produces a record (idempotent)"),
    _spring(
        "transactions", "KafkaTemplate produces in a transaction, with the prefix `billing-tx`"
    ),
    _spring("listener", "a listener container consumes in a group and commits"),
    _spring("admin", "KafkaAdmin creates a topic"),
    _flink("copy", "AT_LEAST_ONCE", "a Flink job copies a topic, at least once"),
    _flink(
        "copy-exactly-once", "EXACTLY_ONCE", "a Flink job copies a topic, exactly once", TRANSACTION
    ),
    Program(
        "spark-copy",
        SPARK_CONNECTOR,
        "Spark's Structured Streaming copies a topic",
        (
            Step(
                (sys.executable, str(_CLIENTS / "spark_copy.py"), "{spark}", "{folder}"),
                expected_topic=NEW_TOPIC,
                expected_records=RECORDS,
            ),
        ),
        topics=(TOPIC, NEW_TOPIC),
    ),
    _word_count("streams-word-count", "", ""),
    _word_count(
        "streams-word-count-exactly-once",
        ", with processing.guarantee=exactly_once_v2",
        "processing.guarantee=exactly_once_v2\n",
        "word-count-",
    ),
)
