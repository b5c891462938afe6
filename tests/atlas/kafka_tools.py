"""Kafka's command-line tools, each with the access of one task."""

from tests.atlas.program import GROUP, NEW_TOPIC, RECORDS, TOPIC, Program, Step

RELEASE = "4.3.1"
"""The last release whose kafka-tools are in the Maven registry."""
JAVA_FLAGS = ("-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_SERVER = "--bootstrap-server {bootstrap} --command-config {settings}"


def java_argv(main: str, words: str) -> tuple[str, ...]:
    """Return the command of a Java class of Kafka's jars."""
    return ("java", *JAVA_FLAGS, "-cp", "{kafka-tools}/*", main, *words.split())


def _tool(
    name: str,
    main: str,
    words: str,
    expected: str,
    does: str,
    *,
    needs_lists: bool = False,
    stdin: str = "",
    records: int = 0,
) -> Program:
    topic = TOPIC if records else ""
    argv = java_argv(main, words.replace("SERVER", _SERVER))
    step = Step(argv, expected, stdin, expected_topic=topic, expected_records=records)
    return Program(name, RELEASE, does, (step,), needs_lists)


_TOOLS = "org.apache.kafka.tools"
_GROUPS = f"{_TOOLS}.consumer.group.ConsumerGroupCommand"
_TOPICS = f"{_TOOLS}.TopicCommand"
_CONFIGS = "kafka.admin.ConfigCommand"

KAFKA_TOOLS = (
    _tool(
        "kafka-topics-create",
        _TOPICS,
        f"SERVER --create --topic {NEW_TOPIC}",
        f"Created topic {NEW_TOPIC}",
        "creates a topic",
    ),
    _tool("kafka-topics-list", _TOPICS, "SERVER --list", TOPIC, "lists topics", needs_lists=True),
    _tool(
        "kafka-topics-describe",
        _TOPICS,
        f"SERVER --describe --topic {TOPIC}",
        r"PartitionCount: 1\s.*Configs:",
        "describes a topic and its settings",
    ),
    _tool(
        "kafka-topics-alter",
        _TOPICS,
        f"SERVER --alter --topic {TOPIC} --partitions 2",
        r"\A\s*\Z",
        "adds partitions to a topic",
    ),
    _tool(
        "kafka-topics-delete",
        _TOPICS,
        f"SERVER --delete --topic {TOPIC}",
        r"\A\s*\Z",
        "deletes a topic",
    ),
    _tool(
        "kafka-console-producer",
        f"{_TOOLS}.ConsoleProducer",
        f"SERVER --topic {TOPIC}",
        r"\A[\s>]*\Z",
        "produces records (idempotent)",
        stdin="one\ntwo\n",
        records=RECORDS + 2,
    ),
    _tool(
        "kafka-console-consumer",
        f"{_TOOLS}.consumer.ConsoleConsumer",
        f"SERVER --topic {TOPIC} --group {GROUP} --max-messages {RECORDS - 1}",
        f"Processed a total of {RECORDS - 1} messages",
        "consumes records in a group",
    ),
    _tool(
        "kafka-consumer-groups-list",
        _GROUPS,
        "SERVER --list",
        GROUP,
        "lists groups",
        needs_lists=True,
    ),
    _tool(
        "kafka-consumer-groups-describe",
        _GROUPS,
        f"SERVER --describe --group {GROUP}",
        rf"{GROUP}\s+{TOPIC}\s+0\s+1\s+{RECORDS}\s+",
        "shows the offsets and the lag of a group",
    ),
    _tool(
        "kafka-consumer-groups-reset",
        _GROUPS,
        f"SERVER --reset-offsets --group {GROUP} --topic {TOPIC} --to-latest --execute",
        rf"{GROUP}\s+{TOPIC}\s+0\s+{RECORDS}",
        "resets the offsets of a group",
    ),
    _tool(
        "kafka-consumer-groups-delete",
        _GROUPS,
        f"SERVER --delete --group {GROUP}",
        "Deletion of requested consumer groups .* was successful",
        "deletes a group",
    ),
    _tool(
        "kafka-configs-describe",
        _CONFIGS,
        f"SERVER --describe --topic {TOPIC} --all",
        "retention.ms=",
        "shows the settings of a topic",
    ),
    _tool(
        "kafka-configs-alter",
        _CONFIGS,
        f"SERVER --alter --topic {TOPIC} --add-config retention.ms=60000",
        f"Completed updating config for topic {TOPIC}",
        "changes the settings of a topic",
    ),
    _tool(
        "kafka-acls-list",
        "org.apache.kafka.tools.AclCommand",
        "SERVER --list",
        r"\A(?!.*(Error|Exception)).*\Z",
        "lists ACLs",
    ),
    _tool(
        "kafka-acls-add",
        "org.apache.kafka.tools.AclCommand",
        f"SERVER --add --allow-principal User:carol --operation Read --topic {TOPIC}",
        "Adding ACLs for resource",
        "adds an ACL",
    ),
    _tool(
        "kafka-get-offsets",
        f"{_TOOLS}.GetOffsetShell",
        f"SERVER --topic {TOPIC}",
        f"{TOPIC}:0:{RECORDS}",
        "shows the end of a topic",
        needs_lists=True,
    ),
    _tool(
        "kafka-producer-perf-test",
        f"{_TOOLS}.ProducerPerformance",
        f"--topic {TOPIC} --num-records 10 --record-size 10 --throughput -1"
        " --bootstrap-server {bootstrap} --command-config {settings}",
        "10 records sent",
        "measures a producer",
    ),
    _tool(
        "kafka-log-dirs",
        f"{_TOOLS}.LogDirsCommand",
        f"SERVER --describe --topic-list {TOPIC}",
        rf'"partition":"{TOPIC}-0"',
        "shows the size of a topic on disk",
    ),
    _tool(
        "kafka-metadata-quorum",
        f"{_TOOLS}.MetadataQuorumCommand",
        "SERVER describe --status",
        "ClusterId:",
        "shows the state of the quorum",
    ),
    _tool(
        "kafka-transactions-list",
        f"{_TOOLS}.TransactionsCommand",
        "SERVER list",
        "TransactionalId",
        "lists transactions",
    ),
)
