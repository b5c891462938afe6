"""Connect, MirrorMaker and Streams: services that are stopped once they have done their task."""

from typing import Any

from tests.atlas.built_folders import SERVICES
from tests.atlas.kafka_tools import JAVA_FLAGS
from tests.atlas.program import GROUP, RECORDS, TOPIC, Program, Step

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
offset.storage.file.filename={{folder}}/offsets
offset.flush.interval.ms=1000
plugin.discovery=only_scan
listeners=http://127.0.0.1:0
{_prefixed_login("producer.", "consumer.", "admin.")}"""


def _connect(task: str, does: str, connector: str, step: Step) -> Program:
    files = {"worker.properties": _WORKER, "connector.properties": connector, "in.txt": "a\nb\n"}
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
    Program(
        "streams-word-count",
        SERVICES,
        "Kafka Streams' WordCountDemo, with a store and a repartitioned topic",
        (
            _java_service(
                "streams",
                "org.apache.kafka.streams.examples.wordcount.WordCountDemo",
                "{folder}/streams.properties",
                expected_topic="streams-wordcount-output",
                expected_records=1,
            ),
        ),
        files={
            "streams.properties": "bootstrap.servers={bootstrap}\napplication.id=word-count\n"
            "state.dir={folder}/state\ncommit.interval.ms=500\n" + _prefixed_login()
        },
        topics=("streams-plaintext-input", "streams-wordcount-output"),
    ),
)
