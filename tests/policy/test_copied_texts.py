"""What is printed for people to copy is read back as exactly the ACLs that are meant.

The readers are YAML's and a shell's, not ours.
"""

import itertools
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.store import AclStore
from kafka_shim.cli import main
from kafka_shim.policy.formats import format_acls_losslessly
from kafka_shim.protocol.enums import ApiKey, Operation, Permission, ResourceType
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.shim.observing.audit_log import LOGGER_NAME
from kafka_shim.text.logs import configure_logging
from tests.pipeline.traces import TraceMaker
from tests.shim.play import Stage
from tests.support.acls import make_acl
from tests.support.printed_steps import parse_steps

TEXTS = [
    "it's",
    '"quoted" it\'s',
    "back\\slash \\' \\n",
    "a: b # c",
    "日本 語 ",
    "; remove {x} | y",
    "x}; remove {principal: User:b, deny: Read, topic: pay}",
    "TOPIC|pay|LITERAL|User:b|*|READ|DENY",
    "tab\tand\x85line\u2028",
    "$(id) `id` $HOME !h",
    "-dash",
    "null",
]
HOST = "127.0.0.1"


def acls_of(text: str) -> tuple[Acl, Acl]:
    """Return the missing ALLOW and the DENY of a principal and a group with this text."""
    allow = make_acl(
        Operation.READ, text, resource_type=ResourceType.GROUP, principal=f"User:{text}"
    )
    return allow, make_acl(
        Operation.READ,
        text,
        resource_type=ResourceType.GROUP,
        principal=f"User:{text}",
        permission=Permission.DENY,
    )


def shell_commands(lines: list[str]) -> list[dict[str, str]]:
    """Return the options that a shell passes to `kafka-acls` in each line."""
    script = "\n".join(["kafka-acls() { printf '%s\\0' \"$@\" end; }", *lines])
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    words = done.stdout.decode().split("\0")
    commands: list[dict[str, str]] = [{}]
    for word, following in itertools.pairwise(words):
        if word == "end":
            commands.append({})
        elif attached := re.match("(--[a-z-]+)=", word):
            commands[-1][attached[1]] = word[attached.end() :]
        elif word.startswith("--"):
            commands[-1].setdefault(word, following)
    return commands[:-1]


def commands_of(output: str) -> list[dict[str, str]]:
    return shell_commands([line for line in output.splitlines() if "kafka-acls --" in line])


@pytest.mark.parametrize("text", TEXTS)
def test_a_log_line_and_a_report_are_copied(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info", "console")
    stage = Stage()
    group = ResourceType.GROUP
    stage.allow(f"User:{text}", Operation.DESCRIBE, group, text, deny=True)
    stage.ask(ApiKey.FIND_COORDINATOR, 0, FindCoordinatorRequest(text, 0), f"User:{text}")
    (line,) = [line for line in capsys.readouterr().err.splitlines() if LOGGER_NAME in line]
    (step, *_) = re.findall(r"to_allow='(.*)'", line)
    found = list(parse_steps(step))
    verbs = [(verb, acl.permission, acl.principal, acl.resource_name) for verb, acl in found]
    assert ("remove", Permission.DENY, f"User:{text}", text) in verbs
    assert ("add", Permission.ALLOW, f"User:{text}", text) in verbs
    assert len(found) <= 3


def run(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    main([str(word) for word in words])
    return capsys.readouterr().out


def test_what_the_jobs_print_is_copied(tmp_path: Path, capsys: Any) -> None:
    """The traces have each principal denied, and then allowed, what bears its name."""
    everything = [acl for text in TEXTS for acl in acls_of(text)]
    denies = [acl for acl in everything if acl.permission is Permission.DENY]
    allows = [acl for acl in everything if acl not in denies]
    for name, acls in (("denied", denies), ("allowed", allows)):
        maker = TraceMaker(tmp_path / name, StandardAuthorizer(store=AclStore(acls)))
        for acl in acls:
            asked = [(Operation.READ, ResourceType.GROUP, acl.resource_name)]
            maker.ask(acl.principal, HOST, ApiKey.JOIN_GROUP, asked)
        maker.close()
        (tmp_path / f"{name}.yaml").write_text(format_acls_losslessly(acls, "yaml"))
    maker = TraceMaker(tmp_path / "idle", StandardAuthorizer(store=AclStore()))
    maker.ask("User:z", HOST, ApiKey.JOIN_GROUP, [(Operation.READ, ResourceType.GROUP, "z")])
    maker.close()
    denied, in_force = tmp_path / "denied", ("--acls", tmp_path / "denied.yaml")

    rows = json.loads(run(capsys, "pipeline", "denials", denied, *in_force, "--json"))["rows"]
    printed = run(capsys, "pipeline", "denials", denied, *in_force)
    steps = [list(parse_steps(row["remedy"])) for row in rows]
    assert sorted(step[0] for each in steps for step in each) == ["add"] * 12 + ["remove"] * 12
    assert {acl for each in steps for _, acl in each} == set(everything)
    from_table = [at.start() for at in re.finditer("(?m)add {principal", printed)]
    copied = {acl for at in from_table for _, acl in parse_steps(printed[at:])}
    assert set(everything) <= copied
    assert re.search(r"GROUP +TOPIC\|pay\|", printed), "a name that looks like an ACL"

    expected = [(f"User:{text}", text) for text in TEXTS]
    added = run(
        *(capsys, "pipeline", "least-acls", tmp_path / "allowed"),
        *("--against", tmp_path / "denied.yaml", "--accept-incomplete"),
    )
    found = [(each["--allow-principal"], each["--group"]) for each in commands_of(added)]
    assert sorted(found) == sorted(expected)
    removed = run(
        *(capsys, "pipeline", "unused-acls", tmp_path / "idle", "--accept-incomplete"),
        *("--acls", tmp_path / "allowed.yaml"),
    )
    found = [(each["--allow-principal"], each["--group"]) for each in commands_of(removed)]
    assert sorted(found) == sorted(expected)
    for text in TEXTS:
        question = ("--principal", f"User:{text}", "--operation", "Read", "--host", HOST)
        output = run(capsys, "explain", *in_force, *question, "--resource", f"group:{text}")
        add, remove = commands_of(output)
        assert (add["--allow-principal"], add["--group"]) == (f"User:{text}", text)
        assert (remove["--deny-principal"], remove["--group"]) == (f"User:{text}", text)
