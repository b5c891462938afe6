"""What really fails when an ACL is removed from a real broker, with a trace and a log from before.

`python -m tests.pipeline.removals` records it again; it needs Java and Maven. The programs of
`removal_steps` run once with all ACLs, through `kafka-shim proxy` and with the authorizer's log.
Then each ACL is removed alone, and at last all that the fewest ACLs of each source leave out.
"""

import contextlib
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
from kafka import KafkaAdminClient, TopicPartition
from kafka.errors import CoordinatorNotAvailableError, NotCoordinatorError
from kafka.structs import OffsetAndMetadata

from kafka_shim.authorizer.model import Acl
from kafka_shim.client.acls import EVERY_ACL, create_acls, delete_acls
from kafka_shim.client.client import Client, connect
from kafka_shim.policy.formats import parse_distinct_acls
from kafka_shim.policy.formats.trace_rule import format_acl_rule, parse_acl_rule
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafka_shim.traces.importers.log_import import import_authorizer_log
from tests.pipeline.removal_steps import settings
from tests.recordings.audit.recording import AuditedKafka
from tests.recordings.traffic.recording import AUDIT_LOG, PROXY, RUN, Archives, proxy
from tests.support.commands import SHIM

RELEASE = "4.4.0"
OUTCOMES = "outcomes.json"
FOLDER = Path(__file__).parent / "removals"
ARCHIVES = Archives(FOLDER, ".tar.xz")
SOURCES = (PROXY, AUDIT_LOG)
SETTLE_S = 2.0
ACLS = """\
- {principal: User:alice, allow: Write, topic: orders}
- {principal: User:alice, allow: Describe, topic: catalog}
- {principal: User:alice, allow: Describe, topic: se, pattern: prefixed}
- {principal: User:alice, deny: Describe, topic: secret}
- {principal: User:alice, allow: Read, topic: old}
- {principal: User:bob, allow: Read, topic: orders}
- {principal: User:bob, allow: Read, group: billing}
- {principal: User:bob, allow: Describe, group: others}
- {principal: User:bob, allow: Read, group: old}
- {principal: User:carol, allow: [Create, Delete], topic: inv, pattern: prefixed}
- {principal: User:carol, allow: Delete, topic: invoices}
- {principal: User:carol, allow: DescribeConfigs, topic: orders}
- {principal: User:carol, allow: Write, topic: orders}
- {principal: User:carol, allow: Write, transactional-id: tx, pattern: prefixed}
- {principal: User:carol, allow: Describe, cluster: kafka-cluster}
- {principal: User:*, allow: DescribeConfigs, cluster: kafka-cluster}
"""
TOPICS = ("orders", "catalog", "seen", "secret")
Outcomes = dict[str, Any]


class Trial(msgspec.Struct):
    """The outcomes with all ACLs, without each one, and with the fewest ACLs of each source."""

    before: Outcomes
    without: dict[str, Outcomes] = {}
    fewest: dict[str, list[str]] = {}
    with_fewest: dict[str, Outcomes] = {}


def acls() -> list[Acl]:
    return parse_distinct_acls(ACLS)


def unpacked(folder: Path) -> tuple[Trial, dict[str, Path]]:
    """Unpack the recording; return the outcomes, and the trace of each source."""
    ARCHIVES.extract(RELEASE, folder)
    trial = msgspec.json.decode((folder / OUTCOMES).read_bytes(), type=Trial)
    return trial, traces_in(folder)


def traces_in(folder: Path) -> dict[str, Path]:
    log = folder / "log"
    with (folder / AUDIT_LOG).open() as lines:
        assert import_authorizer_log(lines, log).unread == 0
    return {PROXY: folder / PROXY, AUDIT_LOG: log}


def fewest_acls(trace: Path) -> list[str]:
    """Return the rules of `trace least-acls --lists`, which keeps what programs see in lists."""
    command = [*SHIM, "pipeline", "least-acls", str(trace), "--lists", "--json"]
    for user in ("alice", "bob", "carol"):
        command += ["--principal", f"User:{user}"]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=300, check=True)
    return [row["acl"] for row in json.loads(result.stdout)["rows"]]


class LoggedKafka(AuditedKafka):
    """A real broker that also logs denied probes."""

    level = "TRACE"


def record() -> None:
    with LoggedKafka(RELEASE) as kafka, connect(kafka.plain) as admin:
        _create_topics_and_group(admin, kafka.sasl)
        _set_acls(admin, acls())
        trace = kafka.folder / PROXY
        with proxy(kafka.sasl, trace) as address:
            trial = Trial(_outcomes(admin, address))
        lines = [line for line in kafka.lines() if "Principal = User:" in line]
        own = [line for line in lines if "User:admin" not in line and "ANONYMOUS" not in line]
        files = {f"{PROXY}/{path.name}": path.read_bytes() for path in trace.iterdir()}
        files[AUDIT_LOG] = "".join(f"{line}\n" for line in own).encode()
        source_folder = kafka.folder / "sources"
        for name, content in files.items():
            (source_folder / name).parent.mkdir(parents=True, exist_ok=True)
            (source_folder / name).write_bytes(content)
        for source, path in traces_in(source_folder).items():
            trial.fewest[source] = fewest_acls(path)
            _set_acls(admin, _acls_of_rules(trial.fewest[source]))
            trial.with_fewest[source] = _outcomes(admin, kafka.sasl)
        for removed in acls():
            _set_acls(admin, [acl for acl in acls() if acl != removed])
            trial.without[format_acl_rule(removed)] = _outcomes(admin, kafka.sasl)
            sys.stderr.write(f"removed {format_acl_rule(removed)}\n")
        files[OUTCOMES] = msgspec.json.format(msgspec.json.encode(trial), indent=1)
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{RELEASE}.tar.xz").write_bytes(ARCHIVES.pack({RUN: files}))
    for rule, outcomes in trial.without.items():
        changed = [name for name, outcome in outcomes.items() if outcome != trial.before[name]]
        sys.stderr.write(f"without {rule}: {', '.join(changed) or 'nothing'} changed\n")


def _acls_of_rules(rules: list[str]) -> list[Acl]:
    return [acl for rule in rules if (acl := parse_acl_rule(rule)) is not None]


def _create_topics_and_group(admin: Client, address: str) -> None:
    topics = [CreatableTopic(name, num_partitions=1, replication_factor=1) for name in TOPICS]
    admin.send_request(ApiKey.CREATE_TOPICS, CreateTopicsRequest(topics=topics, timeout_ms=10_000))
    client = KafkaAdminClient(**settings(address, "admin"))
    for group in ("others", "strange"):
        _commit(client, group)
    client.close()


def _commit(client: KafkaAdminClient, group: str) -> None:
    """Commit as soon as the topic of the offsets exists."""
    offsets = {TopicPartition("orders", 0): OffsetAndMetadata(0, "", -1)}
    for _ in range(60):
        with contextlib.suppress(CoordinatorNotAvailableError, NotCoordinatorError):
            errors = client.alter_group_offsets(group, offsets).values()
            if all(error.errno == 0 for error in errors):
                return
        time.sleep(1)
    raise AssertionError(f"group {group} has no offsets")


def _set_acls(admin: Client, wanted: list[Acl]) -> None:
    delete_acls(admin, [EVERY_ACL])
    create_acls(admin, wanted)
    time.sleep(SETTLE_S)


def _outcomes(admin: Client, address: str) -> Outcomes:
    """Run the programs as in a new cluster: without the topic that they create."""
    topic = DeleteTopicState(name="invoices")
    request = DeleteTopicsRequest(topics=[topic], topic_names=["invoices"], timeout_ms=10_000)
    admin.send_request(ApiKey.DELETE_TOPICS, request)
    command = [sys.executable, "-m", "tests.pipeline.removal_steps", address]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=300, check=True)
    outcomes: Outcomes = json.loads(result.stdout)
    return outcomes


if __name__ == "__main__":
    record()
