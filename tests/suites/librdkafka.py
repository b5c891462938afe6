"""Runs librdkafka's own tests, built from the source in an npm package.

The tests, written in C, run in sets, since they need brokers with different settings.
"""

import json
import os
import re
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.suites import kafka_home
from tests.suites.broker import ANYBODY, Broker, Needs
from tests.suites.cache import SuiteError, command, fetched, need, progress, run_to_file
from tests.suites.outcome import FAILED, PASSED, SKIPPED, Result

VERSION = "2.15.1"
PACKAGE = "@confluentinc/kafka-javascript@1.10.1"
"""An npm package that contains librdkafka's tests."""
BUNDLED = "package/deps/librdkafka/"
RUN_SECONDS = 1800

LEFT_OUT = {
    "0076": "counts on its own timing of a second; fails now and then on a real broker too",
    "0088": "the same",
    "0098": "needs a Java program that is not in the archive",
    "0118": "counts on its own timing of a second",
}
_ONE_BROKER = (r"(create_topic_wait_exists\([^;]*, \w+), 3, 5000\)", r"\1, 1, 5000)")
"""Change that creates topics with one replica instead of three."""


@dataclass(frozen=True)
class Part:
    """Tests with the same settings; without `tests`, all that need a broker."""

    tests: Sequence[str] = ()
    options: Sequence[str] = ()
    subtests: str = ""
    login: Mapping[str, str] = field(default_factory=dict)


_LOGIN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.username": "testuser",
    "sasl.password": "testpass",
}
_USERS = {"admin": "admin-secret", "testuser": "testpass"}
_OPEN = {"allow.everyone.if.no.acl.found": "true"}
NEEDS = Needs(super_users=("User:admin",), users=_USERS, settings=_OPEN)
"""Some tests deny operations to their own user, which therefore is no super user."""
NEEDS_FOR_ACLS_LOGGED_IN = Needs(users=_USERS, settings=_OPEN)
"""One test allows operations on the cluster to its own user only. A real broker needs them too, so
anonymous users, such as the broker, remain super users.
"""
NEEDS_FOR_SHARE = Needs(
    super_users=("User:admin",),
    users=_USERS,
    settings={**_OPEN, "group.share.min.record.lock.duration.ms": "1000"},
)
"""Broker settings of librdkafka's own script."""
NEEDS_FOR_LOGIN = Needs(
    super_users=(ANYBODY, "User:admin", "User:testuser"),
    users=_USERS,
    settings={"connections.max.reauth.ms": "10000"},
)
"""Change for a real broker, which connects to itself anonymously and needs rights, too."""

QUICK = Part(options=("-p6", "-Q"))
TRANSACTIONS = Part(tests=("0090", "0094", "0103", "0129"), options=("-p4",))
ACLS = Part(tests=("0081", "0109", "0115", "0119"), options=("-p4",))
ACLS_LOGGED_IN = Part(tests=("0081",), subtests="do_test_Describe", login=_LOGIN)
SHARE = Part(
    tests=(
        *("0170", "0171", "0172", "0173", "0174", "0175", "0176", "0177", "0178", "0179", "0180"),
        *("0181", "0184", "0185"),
    ),
    options=("-p6",),
)
LOGIN = Part(tests=("0135", "0142"), options=("-p2",), login=_LOGIN)


def run(part: Part, broker: Broker, only: str) -> list[Result]:
    """Run a part; `only` is a comma-separated list of test numbers."""
    folder = fetched(f"librdkafka-{VERSION}", _fetch) / "tests"
    address = broker.sasl_plaintext if part.login else broker.plaintext
    settings = {"bootstrap.servers": address, "test.topic.random": "true", **part.login}
    (folder / "suite.conf").write_text("".join(f"{key}={settings[key]}\n" for key in settings))
    report, output = folder / "suite_report.json", folder / "suite_output.txt"
    report.unlink(missing_ok=True)
    environment = {
        "LD_LIBRARY_PATH": "../src:../src-cpp",
        "RDKAFKA_TEST_CONF": "suite.conf",
        "TEST_KAFKA_VERSION": broker.release,
        "TEST_REPORT": report.name,
        "BROKERS": address,
        "KAFKA_PATH": str(kafka_home.home(broker.release)),
        "TESTS_SKIP": ",".join(LEFT_OUT),
        "CI": "yes",  # longer timeouts
    }
    chosen = only or ",".join(part.tests)
    if chosen:
        environment["TESTS"] = chosen
    if part.subtests:
        environment["SUBTESTS"] = part.subtests
    words = ["./test-runner", "-L", *part.options]
    ended = run_to_file(words, folder, environment, output, RUN_SECONDS)
    said = _plain(output.read_text(errors="replace"))
    if ended and report.exists():
        return list(_reported(json.loads(report.read_text())["tests"], chosen, said))
    return list(_told(said))


for_quick = partial(run, QUICK)
for_transactions = partial(run, TRANSACTIONS)
for_acls = partial(run, ACLS)
for_acls_logged_in = partial(run, ACLS_LOGGED_IN)
for_share = partial(run, SHARE)
for_login = partial(run, LOGIN)


def _fetch(folder: Path) -> None:
    need("npm", "make", "gcc", "g++")
    name = command(["npm", "pack", "--silent", PACKAGE], folder).split()[-1]
    with tarfile.open(folder / name) as archive:
        members = [member for member in archive if member.name.startswith(BUNDLED)]
        for member in members:
            member.name = member.name.removeprefix(BUNDLED)
        archive.extractall(folder, members, filter="data")
    (folder / name).unlink()
    for script in ("configure", "lds-gen.py"):
        (folder / script).chmod(0o755)
    changed = sum(_with_one_broker(path) for path in (folder / "tests").glob("*.c*"))
    if not changed:
        raise SuiteError(f"no test in {folder} asks for three replicas: is this another version?")
    progress("building librdkafka, which takes some minutes")
    command(["./configure", "--disable-syslog"], folder)
    jobs = f"-j{os.cpu_count()}"
    command(["make", jobs, "libs"], folder)
    command(["make", jobs, "-C", "tests", "build"], folder)


def _with_one_broker(path: Path) -> int:
    text, count = re.subn(*_ONE_BROKER, path.read_text())
    path.write_text(text)
    return count


def _plain(text: str) -> str:
    """Remove colours."""
    return re.sub(r"\x1b(?:\[[0-9;]*m|\(B)", "", text)


_NOT_CHOSEN = ("Filtered", "requires test scenario", "not applicable")


def _reported(
    tests: Mapping[str, dict[str, str | float]], chosen: str, said: str
) -> Iterator[Result]:
    """Yield the results of the chosen tests (numbers; empty: all) in the runner's report."""
    for name, test in tests.items():
        reason, state = str(test["extra"]), str(test["state"]).lower()
        is_other = name == "<MAIN>" or (chosen and name[:4] not in chosen)
        if is_other or (state == SKIPPED and (not reason or reason.startswith(_NOT_CHOSEN))):
            continue
        if state not in (PASSED, SKIPPED):
            state, reason = FAILED, reason or _last_words(name, said)
        yield Result(name, state, float(test["duration"]), reason)


def _told(said: str) -> Iterator[Result]:
    """Yield results from the output if there is no report."""
    ended = dict(re.findall(r"=+ Test (\S+) (PASSED|FAILED|SKIPPED) =+", said))
    began = re.findall(r"=+ Running test (\S+) =+", said)
    for name in dict.fromkeys(began):
        state = ended.get(name, FAILED).lower()
        yield Result(name, state, 0, "" if state == PASSED else _last_words(name, said))
    if not began:
        yield Result("test-runner", FAILED, 0, said[-1000:])


def _last_words(name: str, said: str) -> str:
    """Return the output about a failed test."""
    lines = [line for line in said.splitlines() if name in line and "FAIL" in line.upper()]
    return "\n".join(lines[-4:]) or "did not end"
