"""The atlas is what its facts say, in every format, and known programs still need just that."""

import json
import subprocess
import sys

import pytest

from kafka_shim.authorizer.acl_formats import parse_distinct_acls
from kafka_shim.authorizer.acl_formats.json_objects import parse_objects
from kafka_shim.authorizer.model import Acl
from tests.atlas.pages import FOLDER, FORMATS, PRINCIPAL, Entry, files_of_entries, read_entries
from tests.atlas.program import USER
from tests.atlas.programs import PROGRAMS
from tests.commands import SHIM

PROVEN_AGAIN = ("aiokafka-consumer", "confluent-kafka-transactions")
ENTRIES = {entry.name: entry for entry in read_entries()}


def test_the_files_are_made_from_the_facts() -> None:
    files = files_of_entries([*ENTRIES.values()])
    for name, text in files.items():
        assert (FOLDER / name).read_text() == text, f"{name}: run python -m tests.atlas.pages"
    present = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.is_file()}
    assert present == {*files, "atlas.json"}


def test_every_program_is_proven_on_a_real_broker() -> None:
    known = [program.name for program in PROGRAMS]
    assert list(ENTRIES) == [name for name in known if name in ENTRIES]
    assert len(ENTRIES) >= 20
    assert {entry.proven_on for entry in ENTRIES.values()} == {"4.4.0"}


def acls_of_entry(entry: Entry) -> set[Acl]:
    return set(parse_objects(entry.acls))


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
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
    assert set(parse_objects(needed)) == acls_of_entry(ENTRIES[name])
