"""The atlas is what its facts say, in every format, and known programs still need just that."""

import json
import re
import subprocess
import sys

import pytest

from kafka_shim.authorizer.model import Acl
from kafka_shim.policy.formats import parse_distinct_acls
from kafka_shim.policy.formats.json_objects import parse_objects
from tests.atlas.pages import (
    FOLDER,
    FORMATS,
    PRINCIPAL,
    Entry,
    files_of_entries,
    newest_versions,
    read_clients,
    read_entries,
)
from tests.atlas.program import USER
from tests.atlas.programs import PROGRAMS
from tests.support.commands import SHIM

PROVEN_AGAIN = ("aiokafka-consumer", "confluent-kafka-transactions")
ENTRIES = read_entries()
NEWEST = {entry.name: entry for entry in newest_versions(ENTRIES)}


def test_the_files_are_made_from_the_facts() -> None:
    files = files_of_entries(ENTRIES)
    for name, text in files.items():
        assert (FOLDER / name).read_text() == text, f"{name}: run python -m tests.atlas.pages"
    present = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.is_file()}
    assert present == {*files, "atlas.json", "clients.json"}


def test_every_program_is_proven_on_a_real_broker() -> None:
    known = [(program.name, program.version, program.does) for program in PROGRAMS]
    proven = [(entry.name, entry.version, entry.does) for entry in ENTRIES]
    assert proven == [key for key in known if key in proven]
    assert len(NEWEST) >= 60
    assert {entry.proven_on for entry in ENTRIES} == {"4.4.0"}


def test_versions_of_a_program_are_compared() -> None:
    page = (FOLDER / "README.md").read_text()
    older = [entry for entry in ENTRIES if entry not in NEWEST.values()]
    for entry in older:
        (row,) = re.findall(
            rf"^\| {entry.name} \| {re.escape(entry.version)} \|.*", page, re.MULTILINE
        )
        has_changed = acls_of_entry(entry) != acls_of_entry(NEWEST[entry.name])
        assert ("needs" in row) == has_changed, row


def test_the_clients_of_the_traces_include_the_versions_of_programs() -> None:
    clients = {(client.software, client.version) for client in read_clients().clients}
    assert {("apache-kafka-java", "4.4.0"), ("apache-kafka-java", "2.8.2")} <= clients


def acls_of_entry(entry: Entry) -> set[Acl]:
    return set(parse_objects(entry.acls))


@pytest.mark.parametrize("entry", NEWEST.values(), ids=NEWEST)
def test_all_formats_have_the_same_acls(entry: Entry) -> None:
    acls = acls_of_entry(entry)
    assert {acl.principal for acl in acls} <= {PRINCIPAL}
    paths = [FOLDER / name / f"{entry.name}{extension}" for name, extension in FORMATS.items()]
    present = [path for path in paths if path.exists()]
    assert bool(present) == bool(acls)
    for path in present:
        assert set(parse_distinct_acls(path.read_text())) == acls, path


@pytest.mark.client
@pytest.mark.parametrize("name", PROVEN_AGAIN)
def test_a_program_needs_the_acls_of_the_atlas(name: str) -> None:
    words = ("--listener", "SASL_PLAINTEXT://127.0.0.1:0", "-c", "auto.create.topics.enable=false")
    users = ("--user", "admin:admin-secret", "--user", f"{USER}:alice-secret")
    program = (sys.executable, "-m", "tests.atlas.run_program", name)
    result = subprocess.run(
        [*SHIM, "least-acls", "--json", "--no-proof", *words, *users, "--", *program],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    acls = json.loads(result.stdout)["acls"]
    needed = [acl | {"principal": PRINCIPAL} for acl in acls if acl["principal"] == f"User:{USER}"]
    assert set(parse_objects(needed)) == acls_of_entry(NEWEST[name])
