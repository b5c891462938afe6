"""Names that clients choose cannot control a terminal, or add a line to what a command prints."""

import csv
import json
import re
import socket
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from kafka_shim.cli import main
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.delete_groups import DeleteGroupsRequest
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.testing import start
from tests.support.frames import request_frame, sized

HOSTILE = "e\x1b[31m\nFORGED\r\0\x9b\u202e\u2066x,=cmd()|`a`<b>*_"
"""Escapes, line breaks, NUL, bidirectional overrides, and what CSV, HTML and Markdown read."""

RULES = json.dumps(
    {
        "acls": [
            {"principal": f"User:{HOSTILE}", "allow": "Read", "topic": HOSTILE, "host": HOSTILE},
            {"principal": f"User:{HOSTILE}", "allow": "All", "group": HOSTILE},
            {
                "principal": f"User:{HOSTILE}",
                "deny": "Write",
                "topic": HOSTILE[:9],
                "pattern": "prefixed",
            },
            {"principal": "User:bob", "allow": "Write", "topic": "orders"},
        ]
    }
)


def recorded(folder: Path, name: str, client_id: str) -> Path:
    """Return a trace whose topics, groups and transactional ids have a name; all are denied."""
    requests: list[tuple[ApiKey, int, Any]] = [
        (ApiKey.METADATA, 9, MetadataRequest(topics=[MetadataRequestTopic(name=name)])),
        (ApiKey.FIND_COORDINATOR, 4, FindCoordinatorRequest(coordinator_keys=[name])),
        (ApiKey.DELETE_GROUPS, 2, DeleteGroupsRequest(groups_names=[name])),
    ]
    listener = "PLAINTEXT"
    with start(
        in_process=True, record=str(folder), super_users=[], listeners=[f"{listener}://127.0.0.1:0"],
        listener_principals={listener: f"User:{client_id}"},
    ) as broker:  # fmt: skip
        host, _, port = broker.listeners[listener].rpartition(":")
        with socket.create_connection((host, int(port))) as connection:
            for number, (api, version, request) in enumerate(requests):
                connection.sendall(sized(request_frame(api, version, request, number, client_id)))
                size = int.from_bytes(connection.recv(4), "big")
                while size:
                    size -= len(connection.recv(size))
    return folder


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a trace with hostile client ids, topics, groups and transactional ids, all denied."""
    return recorded(tmp_path_factory.mktemp("hostile") / "trace", HOSTILE, HOSTILE)


@pytest.fixture(scope="module")
def long_trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a trace with the longest names that brokers read: their length is a positive short."""
    return recorded(tmp_path_factory.mktemp("long") / "trace", "x" * 32_767, "y" * 32_767)


@pytest.fixture
def files(trace: Path, tmp_path: Path) -> dict[str, str]:
    """Return the files that commands read, by the word for each in COMMANDS."""
    (tmp_path / "acls.yaml").write_text(RULES)
    (tmp_path / "other.yaml").write_text("- {principal: User:bob, allow: Read, topic: orders}\n")
    rule = {"principal": f"User:{HOSTILE}", "may-not": "Read", "topic": HOSTILE}
    (tmp_path / "expectations.yaml").write_text(json.dumps([rule]))
    names = ("acls.yaml", "other.yaml", "expectations.yaml", "history.json")
    return {"TRACE": str(trace), **{name: str(tmp_path / name) for name in names}}


COMMANDS = [
    "trace info TRACE",
    "trace cat TRACE",
    "trace cat TRACE --lines",
    "trace grep TRACE --denied --lines",
    "acls --acls acls.yaml --format list",
    "acls --acls acls.yaml --format commands",
    "acls --acls acls.yaml --format csv",
    "acls --acls acls.yaml --format json",
    "acls --acls acls.yaml --format strimzi",
    "acls --acls acls.yaml --format terraform",
    "acls --acls acls.yaml --format yaml",
    "explain --acls acls.yaml --principal PRINCIPAL --operation Read --resource topic:NAME",
    "explain --acls acls.yaml --principal PRINCIPAL --api Fetch --resource topic:NAME",
    "explain --acls acls.yaml --principal User:bob --api JoinGroup --resource group:NAME",
    "who-can Read topic:NAME --acls acls.yaml",
    "who-can Read group:NAME --acls acls.yaml",
    "policy matrix acls.yaml",
    "policy matrix acls.yaml --csv",
    "policy lint acls.yaml",
    "policy diff acls.yaml other.yaml",
    "policy diff acls.yaml other.yaml --format markdown",
    "policy compact acls.yaml --format commands",
    "policy compact acls.yaml",
    "policy equivalent acls.yaml other.yaml",
    "policy test expectations.yaml --acls acls.yaml",
    "policy check no-public-access acls.yaml",
    "requirements --api Fetch",
    "pipeline denials TRACE",
    "pipeline denials TRACE --csv",
    "pipeline clients TRACE",
    "pipeline timeline TRACE",
    "pipeline damage TRACE",
    "pipeline least-acls TRACE",
    "pipeline what-breaks TRACE --acls acls.yaml",
    "pipeline unused-acls TRACE --acls acls.yaml",
    "pipeline findings TRACE --acls acls.yaml --history history.json",
    "pipeline readiness TRACE --from-release 3.9 --to-release 4.4",
    "pipeline report TRACE",
    "conformance check TRACE",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_name_controls_the_terminal(
    command: str, files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = command.split()
    words = [files.get(word, word) for word in words]
    words = [
        word.replace("PRINCIPAL", f"User:{HOSTILE}").replace("NAME", HOSTILE) for word in words
    ]
    try:
        code = main(words)
    except SystemExit as ended:
        code = int(str(ended.code))
    printed = capsys.readouterr()
    text = printed.out + printed.err
    refusing = ("list", "strimzi", "--format csv", "--format commands")  # such names
    assert code in (0, 3) or command.endswith(refusing), text
    raw = {char for char in text if not char.isprintable() and char not in "\n\t"}
    assert not raw, [line for line in text.split("\n") if not line.isprintable()]
    assert not re.search(r"^\W*FORGED", text, re.MULTILINE)
    assert HOSTILE[:1] in text


@pytest.mark.parametrize("form", ["commands", "yaml", "json", "terraform"])
def test_acls_are_read_back_as_they_were(
    form: str, files: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = files["acls.yaml"]
    if form == "commands":  # no command line can have a NUL
        given = str(tmp_path / "acls.yaml")
        Path(given).write_text(RULES.replace("\\u0000", ""))
    assert main(["acls", "--acls", given, "--format", form]) == 0
    (tmp_path / "written").write_text(capsys.readouterr().out, newline="")
    assert main(["acls", "--acls", str(tmp_path / "written"), "--json"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert main(["acls", "--acls", given, "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert sorted(map(str, read)) == sorted(map(str, written))


def test_reports_are_well_formed(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", "check", str(trace), "--format", "junit"]) in (0, 3)
    ET.fromstring(capsys.readouterr().out)


@pytest.mark.parametrize("command", [line for line in COMMANDS if "TRACE" in line])
def test_the_longest_names_are_read(
    command: str, long_trace: Path, files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = [(files | {"TRACE": str(long_trace)}).get(word, word) for word in command.split()]
    try:
        code = main(words)
    except SystemExit as ended:
        code = int(str(ended.code))
    printed = capsys.readouterr()
    assert code in (0, 3), printed.err[:500]
    assert "Traceback" not in printed.err
    assert printed.out


@pytest.mark.parametrize("beginning", ["=1+1", "+1", "-1", "@SUM(1)"])
def test_a_name_is_no_formula_of_a_spreadsheet(
    beginning: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = {"principal": "User:bob", "allow": "Read", "group": beginning}
    (tmp_path / "acls.yaml").write_text(json.dumps([rule]))
    assert main(["policy", "matrix", str(tmp_path / "acls.yaml"), "--csv"]) == 0
    folder = recorded(tmp_path / "trace", beginning, "shop")
    assert main(["pipeline", "denials", str(folder), "--csv"]) == 0
    tables = capsys.readouterr().out
    cells = [cell for line in csv.reader(tables.splitlines()) for cell in line]
    assert f"'{beginning}" in cells
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
