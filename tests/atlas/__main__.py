"""Make docs/reference/atlas anew: run each program against the shim and against a real Kafka.

    python -m tests.atlas [NAME ...] [--release 4.4.0]

A first run against the shim shows which ACLs a program needs. It must succeed with only these ACLs
on the shim and on the real broker, and must fail there without any. The other programs stay as they
are. The exit code is 1 if one is not proven; it is then not written.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kafka_shim.authorizer.model import Acl
from kafka_shim.client.acls import EVERY_ACL, create_acls, delete_acls
from kafka_shim.client.client import connect
from kafka_shim.policy.formats import format_acls_losslessly
from kafka_shim.policy.formats.json_objects import parse_objects
from kafka_shim.schemas.pins import read_pins
from tests.atlas.pages import (
    Clients,
    Entry,
    read_clients,
    read_entries,
    write_atlas,
    write_clients,
)
from tests.atlas.program import ADMIN, ADMIN_PASSWORD, PASSWORD, USER, Program
from tests.atlas.programs import PROGRAMS
from tests.clients.toolchains import CACHE
from tests.oracle.real_kafka import RealKafka
from tests.support.commands import SHIM

RUN_SECONDS = 600
_PRINCIPAL = f"User:{USER}"
BROKER_WORDS = (
    "--listener",
    "SASL_PLAINTEXT://127.0.0.1:0",
    "--user",
    f"{ADMIN}:{ADMIN_PASSWORD}",
    "--user",
    f"{USER}:{PASSWORD}",
    "-c",
    "auto.create.topics.enable=false",
    "-c",
    "delegation.token.secret.key=secret",
)
"""The options of the shim's broker."""
TRACES = CACHE.parent / "atlas"


def trace_folder(program: Program) -> Path:
    return TRACES / f"{program.name}-{program.version}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--release", default=read_pins().newest, help="of the real Kafka")
    args = parser.parse_args()
    programs = [each for each in PROGRAMS if not args.names or each.name in args.names]
    keys = [_key(program) for program in PROGRAMS]
    entries = {_key(entry): entry for entry in read_entries() if _key(entry) in keys}
    failures = []
    with RealKafka(args.release, settings={"auto.create.topics.enable": "false"}) as kafka:
        for program in programs:
            problem = _prove_and_add(program, kafka, entries)
            name = " ".join(_key(program))
            sys.stderr.write(f"{name}: {problem or 'proven'}\n")
            if problem:
                failures.append(name)
            write_atlas([entries[key] for key in keys if key in entries])
    _write_api_versions(programs, read_clients() if args.names else Clients())
    return 1 if failures else 0


def _write_api_versions(programs: Sequence[Program], earlier: Clients) -> None:
    """Write which API versions the clients used in these programs' traces, by the pipeline."""
    folders = [folder for program in programs if (folder := trace_folder(program)).exists()]
    command = [*SHIM, "pipeline", "clients", "--json", "--principal", _PRINCIPAL]
    result = subprocess.run(
        [*command, *map(str, folders)], stdout=subprocess.PIPE, timeout=RUN_SECONDS, check=True
    )
    rows = json.loads(result.stdout)["rows"]
    write_clients(rows, [folder.name for folder in folders], earlier)


def _key(program: Program | Entry) -> tuple[str, str]:
    return program.name, program.version


def _prove_and_add(
    program: Program, kafka: RealKafka, entries: dict[tuple[str, str], Entry]
) -> str:
    """Add the program's entry; return why it could not be proven, empty if it was."""
    acls = _acls_learned_on_shim(program)
    if acls is None:
        return "it fails on the shim although everything is allowed"
    if not _succeeds_on_shim(program, acls):
        return "not proven on the shim: it fails with only these ACLs"
    if not _succeeds_on_real_broker(program, kafka, acls):
        return f"not proven on Kafka {kafka.release}: it fails with only these ACLs"
    if acls and _succeeds_on_real_broker(program, kafka, []):
        return f"not proven on Kafka {kafka.release}: it succeeds without any ACL"
    entries[_key(program)] = Entry.of_program(program, acls, kafka.release)
    return ""


def _run_argv(program: Program) -> list[str]:
    return [sys.executable, "-m", "tests.atlas.run_program", *_key(program)]


def _acls_learned_on_shim(program: Program) -> list[Acl] | None:
    """Return the fewest ACLs of alice; None if the program fails."""
    command = [*SHIM, "least-acls", "--json", "--no-proof", *BROKER_WORDS]
    command += ["--optional"] * program.needs_lists
    for prefix in program.prefixes:
        command += ["--prefix", prefix]
    result = subprocess.run(
        [*command, "--", *_run_argv(program)],
        stdout=subprocess.PIPE,
        text=True,
        timeout=RUN_SECONDS,
        check=False,
    )
    if result.returncode:
        return None
    acls = parse_objects(json.loads(result.stdout)["acls"])
    return [acl for acl in acls if acl.principal == _PRINCIPAL]


def _succeeds_on_shim(program: Program, acls: Sequence[Acl]) -> bool:
    """Run the program with only these ACLs, and record its trace."""
    trace = trace_folder(program)
    shutil.rmtree(trace, ignore_errors=True)
    command = [*SHIM, "run", *BROKER_WORDS, "--super-user", f"User:{ADMIN}", "--record", str(trace)]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(format_acls_losslessly(acls, "yaml"))
        file.flush()
        result = subprocess.run(
            [*command, "--acls", file.name, "--", *_run_argv(program)],
            stdout=sys.stderr,
            timeout=RUN_SECONDS,
            check=False,
        )
    return result.returncode == 0


def _succeeds_on_real_broker(program: Program, kafka: RealKafka, acls: Sequence[Acl]) -> bool:
    with connect(kafka.plain) as client:
        delete_acls(client, [EVERY_ACL])
        create_acls(client, acls)
    result = subprocess.run(
        _run_argv(program),
        env=os.environ | {"KAFKA_BOOTSTRAP_SERVERS": kafka.sasl},
        stdout=sys.stderr,
        stderr=sys.stderr if acls else subprocess.DEVNULL,
        timeout=RUN_SECONDS,
        check=False,
    )
    return result.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
