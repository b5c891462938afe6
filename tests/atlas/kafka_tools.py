"""Kafka's command-line tools, each with the access of one task."""

from collections.abc import Mapping

import msgspec

from tests.atlas.program import GROUP, NEW_TOPIC, RECORDS, SHARE_GROUP, TOPIC, Program, Step
from tests.suites.kafka_home import MAIN_CLASSES

RELEASE, EARLIER = "4.4.0", "2.8.2"
"""The newest release, and one with which its ACLs are compared."""
JAVA_FLAGS = ("-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_MAIN_CLASSES = MAIN_CLASSES | {"kafka-configs": "org.apache.kafka.tools.ConfigCommand"}
_SERVER = "--bootstrap-server {bootstrap} --command-config {settings}"
_AS_ADMIN = "--bootstrap-server {bootstrap} --command-config {admin-settings}"


def _argv(tool: str, words: str) -> tuple[str, ...]:
    names = words.replace("SERVER", _SERVER).replace("AS_ADMIN", _AS_ADMIN).split()
    return ("java", *JAVA_FLAGS, "-cp", "{kafka-tools}/*", _MAIN_CLASSES[tool], *names)


def _task(
    tool: str,
    task: str,
    words: str,
    expected: str,
    does: str,
    *,
    needs_lists: bool = False,
    stdin: str = "",
    records: int = 0,
    files: Mapping[str, str] | None = None,
    before: tuple[str, str] | None = None,
    prefixes: tuple[str, ...] = (),
) -> Program:
    """Return a task of a tool; `before` is what another tool does first as the administrator."""
    steps = [Step(_argv(*before))] if before else []
    topic = TOPIC if records else ""
    steps.append(
        Step(_argv(tool, words), expected, stdin, expected_topic=topic, expected_records=records)
    )
    name = f"{tool}-{task}" if task else tool
    return Program(name, RELEASE, does, tuple(steps), needs_lists, prefixes, files or {})


_PARTITION = f'{{"topic": "{TOPIC}", "partition": 0'
_OFFSETS = f'{{"version": 1, "partitions": [{_PARTITION}, "offset": 2}}]}}'
_PLAN = f'{{"version": 1, "partitions": [{_PARTITION}, "replicas": [{{broker}}]}}]}}'
_TOPICS_TO_MOVE = f'{{"version": 1, "topics": [{{"topic": "{TOPIC}"}}]}}'
_NO_ERROR = r"\A(?!.*(Error|Exception))"
_SHARED = (
    "kafka-console-share-consumer",
    f"AS_ADMIN --topic {TOPIC} --group {SHARE_GROUP} --max-messages 1 --timeout-ms 20000",
)
"""Creates the share group, with offsets."""

_NEWEST = (
    _task(
        "kafka-topics",
        "create",
        f"SERVER --create --topic {NEW_TOPIC}",
        f"Created topic {NEW_TOPIC}",
        "creates a topic",
    ),
    _task("kafka-topics", "list", "SERVER --list", TOPIC, "lists topics", needs_lists=True),
    _task(
        "kafka-topics",
        "describe",
        f"SERVER --describe --topic {TOPIC}",
        r"PartitionCount: 1\s.*Configs:",
        "describes a topic and its settings",
    ),
    _task(
        "kafka-topics",
        "alter",
        f"SERVER --alter --topic {TOPIC} --partitions 2",
        r"\A\s*\Z",
        "adds partitions to a topic",
    ),
    _task(
        "kafka-topics",
        "delete",
        f"SERVER --delete --topic {TOPIC}",
        r"\A\s*\Z",
        "deletes a topic",
    ),
    _task(
        "kafka-console-producer",
        "",
        f"SERVER --topic {TOPIC}",
        r"\A[\s>]*\Z",
        "produces records (idempotent)",
        stdin="one\ntwo\n",
        records=RECORDS + 2,
    ),
    _task(
        "kafka-console-consumer",
        "",
        f"SERVER --topic {TOPIC} --group {GROUP} --max-messages {RECORDS - 1}",
        f"Processed a total of {RECORDS - 1} messages",
        "consumes records in a group",
    ),
    _task(
        "kafka-console-consumer",
        "new-protocol",
        f"SERVER --topic {TOPIC} --group {GROUP} --max-messages {RECORDS - 1}"
        " --command-property group.protocol=consumer",
        f"Processed a total of {RECORDS - 1} messages",
        "consumes records in a group with group.protocol=consumer",
    ),
    _task(
        "kafka-console-share-consumer",
        "",
        f"SERVER --topic {TOPIC} --group {SHARE_GROUP} --max-messages {RECORDS}",
        f"Processed a total of {RECORDS} messages",
        "consumes records in a share group",
    ),
    _task(
        "kafka-consumer-groups",
        "list",
        "SERVER --list",
        GROUP,
        "lists groups",
        needs_lists=True,
    ),
    _task(
        "kafka-consumer-groups",
        "describe",
        f"SERVER --describe --group {GROUP}",
        rf"{GROUP}\s+{TOPIC}\s+0\s+1\s+{RECORDS}\s+",
        "shows the offsets and the lag of a group",
    ),
    _task(
        "kafka-consumer-groups",
        "state",
        f"SERVER --describe --state --group {GROUP}",
        rf"{GROUP}\s.*Empty\s+0",
        "shows the state of a group",
    ),
    _task(
        "kafka-consumer-groups",
        "reset",
        f"SERVER --reset-offsets --group {GROUP} --topic {TOPIC} --to-latest --execute",
        rf"{GROUP}\s+{TOPIC}\s+0\s+{RECORDS}",
        "resets the offsets of a group",
    ),
    _task(
        "kafka-consumer-groups",
        "delete-offsets",
        f"SERVER --delete-offsets --group {GROUP} --topic {TOPIC}",
        rf"{TOPIC}\s+0\s+Successful",
        "deletes the offsets of a topic in a group",
    ),
    _task(
        "kafka-consumer-groups",
        "delete",
        f"SERVER --delete --group {GROUP}",
        "Deletion of requested consumer groups .* was successful",
        "deletes a group",
    ),
    _task("kafka-groups", "list", "SERVER --list", GROUP, "lists groups", needs_lists=True),
    _task(
        "kafka-share-groups",
        "list",
        "SERVER --list",
        SHARE_GROUP,
        "lists share groups",
        needs_lists=True,
        before=_SHARED,
    ),
    _task(
        "kafka-share-groups",
        "describe",
        f"SERVER --describe --group {SHARE_GROUP}",
        rf"{SHARE_GROUP}\s+{TOPIC}\s+0\s",
        "shows the offsets of a share group",
        needs_lists=True,
        before=_SHARED,
    ),
    _task(
        "kafka-share-groups",
        "reset",
        f"SERVER --reset-offsets --group {SHARE_GROUP} --topic {TOPIC} --to-latest --execute",
        rf"{TOPIC}\s+0\s+{RECORDS}",
        "resets the offsets of a share group",
        before=_SHARED,
    ),
    _task(
        "kafka-share-groups",
        "delete-offsets",
        f"SERVER --delete-offsets --group {SHARE_GROUP} --topic {TOPIC}",
        rf"{TOPIC}\s+Successful",
        "deletes the offsets of a topic in a share group",
        before=_SHARED,
    ),
    _task(
        "kafka-share-groups",
        "delete",
        f"SERVER --delete --group {SHARE_GROUP}",
        "was successful",
        "deletes a share group",
        before=_SHARED,
    ),
    _task(
        "kafka-configs",
        "describe",
        f"SERVER --describe --topic {TOPIC} --all",
        "retention.ms=",
        "shows the settings of a topic",
    ),
    _task(
        "kafka-configs",
        "alter",
        f"SERVER --alter --topic {TOPIC} --add-config retention.ms=60000",
        f"Completed updating config for topic {TOPIC}",
        "changes the settings of a topic",
    ),
    _task(
        "kafka-configs",
        "describe-broker",
        "SERVER --describe --broker {broker} --all",
        r"log.retention.hours=",
        "shows the settings of a broker",
    ),
    _task(
        "kafka-configs",
        "alter-broker",
        "SERVER --alter --broker {broker} --add-config log.cleaner.threads=2",
        "Completed updating config for broker",
        "changes the settings of a broker",
    ),
    _task(
        "kafka-configs",
        "describe-group",
        f"SERVER --describe --group {GROUP} --all",
        "consumer.session.timeout.ms=",
        "shows the settings of a group",
    ),
    _task(
        "kafka-configs",
        "alter-group",
        f"SERVER --alter --group {GROUP} --add-config consumer.session.timeout.ms=50000",
        f"Completed updating config for group {GROUP}",
        "changes the settings of a group",
    ),
    _task(
        "kafka-configs",
        "describe-user",
        "SERVER --describe --user carol",
        _NO_ERROR,
        "shows the quotas and the SCRAM credentials of a user",
    ),
    _task(
        "kafka-configs",
        "alter-quota",
        "SERVER --alter --user carol --add-config producer_byte_rate=1048576",
        "Completed updating config for user carol",
        "sets a quota of a user",
    ),
    _task(
        "kafka-configs",
        "alter-scram",
        "SERVER --alter --user carol --add-config SCRAM-SHA-256=[iterations=4096,password=secret]",
        "Completed updating config for user carol",
        "sets the SCRAM password of a user",
    ),
    _task(
        "kafka-client-metrics",
        "list",
        "SERVER --list",
        _NO_ERROR,
        "lists subscriptions to clients' metrics",
    ),
    _task(
        "kafka-client-metrics",
        "alter",
        "SERVER --alter --name all --metrics org.apache.kafka. --interval 60000",
        "Altered client metrics config for all",
        "changes a subscription to clients' metrics",
    ),
    _task("kafka-acls", "list", "SERVER --list", _NO_ERROR, "lists ACLs"),
    _task(
        "kafka-acls",
        "add",
        f"SERVER --add --allow-principal User:carol --operation Read --topic {TOPIC}",
        "Adding ACLs for resource",
        "adds an ACL",
    ),
    _task(
        "kafka-acls",
        "remove",
        f"SERVER --remove --force --allow-principal User:carol --operation Read --topic {TOPIC}",
        _NO_ERROR,
        "removes an ACL",
    ),
    _task(
        "kafka-get-offsets",
        "",
        f"SERVER --topic {TOPIC}",
        f"{TOPIC}:0:{RECORDS}",
        "shows the end of a topic",
        needs_lists=True,
    ),
    _task(
        "kafka-producer-perf-test",
        "",
        f"--topic {TOPIC} --num-records 10 --record-size 10 --throughput -1"
        " --bootstrap-server {bootstrap} --command-config {settings}",
        "10 records sent",
        "measures a producer",
    ),
    _task(
        "kafka-consumer-perf-test",
        "",
        f"SERVER --topic {TOPIC} --group {GROUP} --num-records {RECORDS - 1}",
        rf"\d:\d\d:\d\d:\d+, .*, {RECORDS - 1},",
        "measures a consumer",
    ),
    _task(
        "kafka-share-consumer-perf-test",
        "",
        f"SERVER --topic {TOPIC} --group {SHARE_GROUP} --num-records {RECORDS}",
        rf"\d:\d\d:\d\d:\d+, .*, {RECORDS},",
        "measures a share consumer",
    ),
    _task(
        "kafka-e2e-latency",
        "",
        f"{{bootstrap}} {TOPIC} 2 all 20 {{settings}}",
        "Avg latency",
        "measures the latency from a producer to a consumer",
        prefixes=("test-group-",),
    ),
    _task(
        "kafka-verifiable-producer",
        "",
        f"SERVER --topic {TOPIC} --max-messages 2",
        '"acked":2',
        "produces records for system tests",
        records=RECORDS + 2,
    ),
    _task(
        "kafka-verifiable-consumer",
        "",
        f"SERVER --topic {TOPIC} --group-id {GROUP} --max-messages {RECORDS - 1}",
        "offsets_committed.*shutdown_complete",
        "consumes records for system tests",
    ),
    _task(
        "kafka-verifiable-share-consumer",
        "",
        f"SERVER --topic {TOPIC} --group-id {SHARE_GROUP} --max-messages {RECORDS}",
        "offsets_acknowledged.*shutdown_complete",
        "consumes records in a share group for system tests",
    ),
    _task(
        "kafka-delete-records",
        "",
        "SERVER --offset-json-file {folder}/offsets.json",
        r"partition: orders-0\s+low_watermark: 2",
        "deletes records before an offset",
        files={"offsets.json": _OFFSETS},
    ),
    _task(
        "kafka-leader-election",
        "",
        f"SERVER --election-type preferred --topic {TOPIC} --partition 0",
        "Valid replica already elected",
        "elects the preferred leader of a partition",
    ),
    _task(
        "kafka-reassign-partitions",
        "generate",
        "SERVER --generate --topics-to-move-json-file {folder}/topics.json --broker-list {broker}",
        "Proposed partition reassignment configuration",
        "proposes a reassignment",
        files={"topics.json": _TOPICS_TO_MOVE},
    ),
    _task(
        "kafka-reassign-partitions",
        "execute",
        "SERVER --execute --reassignment-json-file {folder}/plan.json",
        "Successfully started partition reassignment",
        "reassigns the replicas of a partition",
        files={"plan.json": _PLAN},
    ),
    _task(
        "kafka-reassign-partitions",
        "verify",
        "SERVER --verify --reassignment-json-file {folder}/plan.json",
        f"Reassignment of partition {TOPIC}-0 is complete",
        "verifies a reassignment, and removes its throttles",
        files={"plan.json": _PLAN},
    ),
    _task(
        "kafka-reassign-partitions",
        "list",
        "SERVER --list",
        "No partition reassignments found",
        "lists reassignments",
    ),
    _task(
        "kafka-log-dirs",
        "",
        f"SERVER --describe --topic-list {TOPIC}",
        rf'"partition":"{TOPIC}-0"',
        "shows the size of a topic on disk",
    ),
    _task(
        "kafka-metadata-quorum",
        "",
        "SERVER describe --status",
        "ClusterId:",
        "shows the state of the quorum",
    ),
    _task(
        "kafka-metadata-quorum",
        "replication",
        "SERVER describe --replication",
        "Leader",
        "shows the replicas of the quorum",
    ),
    _task(
        "kafka-features",
        "",
        "SERVER describe",
        "metadata.version",
        "shows the features of the cluster",
    ),
    _task(
        "kafka-features",
        "upgrade",
        "SERVER upgrade --dry-run --release-version 4.4",
        _NO_ERROR,
        "validates an upgrade of the features",
    ),
    _task(
        "kafka-cluster",
        "",
        "cluster-id --bootstrap-server {bootstrap} --command-config {settings}",
        "Cluster ID: ",
        "shows the id of the cluster",
    ),
    _task(
        "kafka-broker-api-versions",
        "",
        "SERVER",
        r"Produce\(0\)",
        "shows the API versions of the brokers",
    ),
    _task(
        "kafka-transactions",
        "list",
        "SERVER list",
        "TransactionalId",
        "lists transactions",
    ),
    _task(
        "kafka-transactions",
        "describe-producers",
        f"SERVER describe-producers --topic {TOPIC} --partition 0",
        "ProducerId",
        "shows the producers of a partition",
    ),
    _task(
        "kafka-transactions",
        "find-hanging",
        f"SERVER find-hanging --topic {TOPIC} --partition 0",
        "Topic",
        "looks for hanging transactions of a topic",
    ),
    _task(
        "kafka-streams-application-reset",
        "",
        f"SERVER --application-id {GROUP} --input-topics {TOPIC}",
        f"Topic: {TOPIC} Partition: 0 Offset: 0",
        "resets a Streams application whose id is the group",
    ),
    _task(
        "kafka-streams-groups",
        "list",
        "SERVER --list",
        _NO_ERROR,
        "lists Streams groups",
    ),
    _task(
        "kafka-delegation-tokens",
        "create",
        "SERVER --create --max-life-time-period -1 --renewer-principal User:carol",
        "TOKENID",
        "creates a delegation token for itself",
    ),
    _task(
        "kafka-delegation-tokens",
        "describe",
        "SERVER --describe --owner-principal User:carol",
        "TOKENID",
        "shows the delegation tokens of a user",
    ),
)


def _as_earlier(name: str, main: str, **replaced: str) -> Program:
    """Return a task with the main class of the earlier release, and its names of options."""
    program = next(each for each in _NEWEST if each.name == name)
    (step,) = program.steps
    words = step.argv[step.argv.index("-cp") + 3 :]
    renamed = [replaced.get(word.removeprefix("--").replace("-", "_"), word) for word in words]
    java = ("java", *JAVA_FLAGS, "-cp", "{kafka-tools-earlier}/*", main)
    step = msgspec.structs.replace(step, argv=(*java, *renamed))
    return msgspec.structs.replace(program, version=EARLIER, steps=(step,))


_EARLIER = (
    *(
        _as_earlier(f"kafka-topics-{task}", "kafka.admin.TopicCommand")
        for task in ("create", "list", "describe", "alter", "delete")
    ),
    _as_earlier(
        "kafka-console-producer",
        "kafka.tools.ConsoleProducer",
        command_config="--producer.config",
    ),
    _as_earlier(
        "kafka-console-consumer",
        "kafka.tools.ConsoleConsumer",
        command_config="--consumer.config",
    ),
    *(
        _as_earlier(f"kafka-consumer-groups-{task}", "kafka.admin.ConsumerGroupCommand")
        for task in ("list", "describe", "state", "reset", "delete-offsets", "delete")
    ),
    *(
        _as_earlier(f"kafka-configs-{task}", "kafka.admin.ConfigCommand")
        for task in ("describe", "alter", "describe-broker", "alter-broker", "describe-user")
    ),
    *(
        _as_earlier(f"kafka-configs-{task}", "kafka.admin.ConfigCommand")
        for task in ("alter-quota", "alter-scram")
    ),
    *(
        _as_earlier(f"kafka-acls-{task}", "kafka.admin.AclCommand")
        for task in ("list", "add", "remove")
    ),
    _as_earlier(
        "kafka-consumer-perf-test",
        "kafka.tools.ConsumerPerformance",
        command_config="--consumer.config",
        num_records="--messages",
    ),
    _as_earlier("kafka-delete-records", "kafka.admin.DeleteRecordsCommand"),
    _as_earlier(
        "kafka-leader-election",
        "kafka.admin.LeaderElectionCommand",
        command_config="--admin.config",
    ),
    *(
        _as_earlier(f"kafka-reassign-partitions-{task}", "kafka.admin.ReassignPartitionsCommand")
        for task in ("generate", "execute", "verify", "list")
    ),
    _as_earlier("kafka-log-dirs", "kafka.admin.LogDirsCommand"),
    _as_earlier("kafka-broker-api-versions", "kafka.admin.BrokerApiVersionsCommand"),
    _as_earlier("kafka-delegation-tokens-describe", "kafka.admin.DelegationTokenCommand"),
)

KAFKA_TOOLS = (*_NEWEST, *_EARLIER)
