"""Make docs/reference/atlas anew: run each program against the shim and against a real Kafka.

    python -m tests.atlas [NAME ...] [--release 4.4.0]

A first run against the shim shows which ACLs a program needs. It must succeed with only these ACLs
on the shim and on the real broker, and must fail there without any. The other programs stay as they
are. The exit code is 1 if one is not proven; it is then not written.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence

from kafka_shim.authorizer.acl_formats.json_objects import parse_objects
from kafka_shim.authorizer.model import Acl
from kafka_shim.schemas.pins import read_pins
from kafka_shim.shim.client.acls import EVERY_ACL, create_acls, delete_acls
from kafka_shim.shim.client.client import connect
from tests.atlas.pages import Entry, read_entries, write_atlas
from tests.atlas.program import ADMIN, ADMIN_PASSWORD, PASSWORD, USER, Program
from tests.atlas.programs import PROGRAMS
from tests.commands import SHIM
from tests.oracle.real_kafka import RealKafka

RUN_SECONDS = 300
_PRINCIPAL = f"User:{USER}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--release", default=read_pins().newest, help="of the real Kafka")
    args = parser.parse_args()
    programs = [each for each in PROGRAMS if not args.names or each.name in args.names]
    entries = {entry.name: entry for entry in read_entries() if entry.name in _names(PROGRAMS)}
    failures = []
    with RealKafka(args.release, settings={"auto.create.topics.enable": "false"}) as kafka:
        for program in programs:
            problem = _prove_and_add(program, kafka, entries)
            sys.stderr.write(f"{program.name}: {problem or 'proven'}\n")
            if problem:
                failures.append(program.name)
            write_atlas([entries[name] for name in _names(PROGRAMS) if name in entries])
    return 1 if failures else 0


def _names(programs: Sequence[Program]) -> list[str]:
    return [program.name for program in programs]


def _prove_and_add(program: Program, kafka: RealKafka, entries: dict[str, Entry]) -> str:
    """Add the program's entry; return why it could not be proven, empty if it was."""
    acls = _acls_proven_on_shim(program)
    if acls is None:
        return "not proven on the shim"
    if not _succeeds_on_real_broker(program, kafka, acls):
        return f"not proven on Kafka {kafka.release}: it fails with only these ACLs"
    if acls and _succeeds_on_real_broker(program, kafka, []):
        return f"not proven on Kafka {kafka.release}: it succeeds without any ACL"
    entries[program.name] = Entry.of_program(program, acls, kafka.release)
    return ""


def _run_argv(program: Program) -> list[str]:
    return [sys.executable, "-m", "tests.atlas.run_program", program.name]


def _acls_proven_on_shim(program: Program) -> list[Acl] | None:
    """Return the fewest ACLs of alice, if the program succeeds with only them on the shim."""
    command = [*SHIM, "least-acls", "--json", "--listener", "SASL_PLAINTEXT://127.0.0.1:0"]
    command += ["--user", f"{ADMIN}:{ADMIN_PASSWORD}", "--user", f"{USER}:{PASSWORD}"]
    command += ["-c", "auto.create.topics.enable=false"]
    command += ["--optional"] * program.needs_lists
    result = subprocess.run(
        [*command, "--", *_run_argv(program)],
        stdout=subprocess.PIPE,
        text=True,
        timeout=2 * RUN_SECONDS,
        check=False,
    )
    if result.returncode:
        return None
    acls = parse_objects(json.loads(result.stdout)["acls"])
    return [acl for acl in acls if acl.principal == _PRINCIPAL]


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
