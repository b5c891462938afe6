"""Run Kafka Streams and Kafka Connect on a real broker with the ACLs that a profile requires.

    python -m tests.policy.record_profiles RELEASE

Each application runs once with all of these ACLs, and once without each of them. Every run uses
its own names.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.store import AclStore
from kafka_shim.client.acls import create_acls, delete_acls
from kafka_shim.client.client import connect
from kafka_shim.client.config import read_client_config
from kafka_shim.policy.expectation import parse_expectation
from kafka_shim.policy.expectation_check import ExpectationChecker
from kafka_shim.policy.formats.trace_rule import format_acl_rule
from kafka_shim.protocol.api_versions import parse_minor_release
from tests.clients.broker import Bootstrap
from tests.clients.driver import ClientError, Driver, started
from tests.clients.toolchains import java_tools_driver
from tests.oracle.real_kafka import RealKafka
from tests.policy.connect_worker import ConnectWorker

RECORDED = Path(__file__).with_name("recorded_profiles.json")
USER = "alice"
WORDS = ("to be or", "not to be")
STREAMS: Mapping[str, Mapping[str, str]] = {
    "streams": {},
    "streams-new-protocol": {"group_protocol": "streams"},
    "streams-exactly-once": {"guarantee": "exactly_once_v2"},
}
"""Settings of the word count for each profile."""
Run = Callable[[str], str]
"""Runs an application under a name; returns the error, empty on success."""


def names_for(profile: str, name: str) -> dict[str, Any]:
    """Return the names in an expectation about an application of this name."""
    if profile == "connect":
        return {"topic": f"{name}-*", "group": [name, f"connect-{name}-sink"]}
    return {"application-id": name, "input": "in", "output": "out"}


def wanted(profile: str, name: str, release: str) -> list[Acl]:
    """Return the ACLs that make the expectation hold, starting from none."""
    entry = {"principal": f"User:{USER}", "can": profile, **names_for(profile, name)}
    expectation = parse_expectation(entry, profile, parse_minor_release(release))
    judge = ExpectationChecker(StandardAuthorizer(store=AclStore()))
    return [step.acl for step in judge.check_expectation(expectation).steps]


def runs(profile: str, run: Run, kafka: RealKafka) -> Iterator[dict[str, str]]:
    count = len(wanted(profile, "name", kafka.release))
    for left_out in (None, *range(count)):
        name = f"{profile}-{'all' if left_out is None else left_out}"
        acls = wanted(profile, name, kafka.release)
        without = "" if left_out is None else format_acl_rule(acls.pop(left_out))
        with connect(kafka.plain, read_client_config(None)) as client:
            create_acls(client, acls)
            begun = time.monotonic()
            failure = run(name)
            delete_acls(client, [acl.to_exact_filter() for acl in acls])
        took = time.monotonic() - begun
        said = f"{profile} without {without or 'none'}: {failure or 'ran'} ({took:.0f} s)\n"
        sys.stderr.write(said)
        yield {"name": name, "without": without, "failure": failure}


def word_count(driver: Driver, settings: Mapping[str, str]) -> Run:
    def run(name: str) -> str:
        try:
            found = driver.count_words("in", "out", name, 6, USER, **settings)
        except ClientError as error:
            return str(error)
        return "" if sum(found.values()) == 6 else f"counted {found}"

    return run


def record(release: str) -> None:
    found = {}
    with RealKafka(release) as kafka, tempfile.TemporaryDirectory() as folder:
        bootstrap = Bootstrap(kafka.plain, kafka.sasl)
        command = java_tools_driver(Path(folder))
        with started(command, bootstrap, Path(folder)) as driver:
            for topic in ("in", "out"):
                driver.create_topic(topic)
            driver.produce("in", WORDS, None)
            for profile, settings in STREAMS.items():
                found[profile] = list(runs(profile, word_count(driver, settings), kafka))
        worker = ConnectWorker(kafka.sasl, USER, Path(folder))
        found["connect"] = list(runs("connect", worker.copies_lines, kafka))
    content = {"release": release, "runs": found}
    RECORDED.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    record(sys.argv[1])
