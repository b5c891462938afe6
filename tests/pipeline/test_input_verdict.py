"""Nothing is proposed from an incomplete input, and no check passes because of one."""

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.store import AclStore
from kafka_shim.cli import main
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.traces.importers.log_import import import_authorizer_log
from tests.pipeline.traces import TraceMaker
from tests.support.acls import make_acl
from tests.support.checked_folders import PIPELINE

pytestmark = [PIPELINE, pytest.mark.folders("examples/trace")]

TOPICS = [f"topic-{n}" for n in range(6)]
ACLS = [make_acl(Operation.READ, topic) for topic in (*TOPICS, "never")]
FILE = "".join(
    f"- {{principal: User:alice, allow: Read, topic: {acl.resource_name}}}\n" for acl in ACLS
)
DAY = 24 * 3600 * 1000
"""The number of requests, a millisecond apart, after which a day is over."""


@pytest.fixture
def acls(tmp_path: Path) -> str:
    path = tmp_path / "acls.yaml"
    path.write_text(FILE)
    return str(path)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Return a trace of ten days with three segments, which used all ACLs but one."""
    folder = tmp_path / "trace"
    for n, topics in enumerate((TOPICS[:2], TOPICS[2:4], TOPICS[4:])):
        maker = TraceMaker(folder, StandardAuthorizer(store=AclStore(ACLS)))
        for m, topic in enumerate(topics):
            maker.sequence = (2 * n + m) * 2 * DAY
            asked = [(Operation.READ, ResourceType.TOPIC, topic)]
            maker.ask("User:alice", "h", ApiKey.FETCH, asked)
        maker.close()
    return folder


def unused(capsys: Any, trace: Path, acls: str, *options: str) -> tuple[dict[str, Any], str]:
    words = ["pipeline", "unused-acls", str(trace), "--acls", acls, *options]
    assert main([*words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert main(words) == 0
    return found, capsys.readouterr().out


def test_a_complete_input_gives_commands(trace: Path, acls: str, capsys: Any) -> None:
    found, text = unused(capsys, trace, acls)
    assert found["incomplete_input"] == []
    assert text.count("--remove --force") == 1
    assert "--topic never" in text


def segments(trace: Path) -> list[Path]:
    return sorted(trace.glob("*.ktrace"))


@pytest.mark.parametrize("segment", range(3))
def test_a_segment_cut_anywhere_gives_no_commands(
    segment: int, trace: Path, acls: str, capsys: Any
) -> None:
    path = segments(trace)[segment]
    whole = path.read_bytes()
    rng = random.Random(segment)
    for length in sorted(rng.sample(range(1, len(whole)), 6)):
        path.write_bytes(whole[:length])
        found, text = unused(capsys, trace, acls)
        assert found["incomplete_input"], length
        assert "--remove" not in text
        assert not any(row["remove"] for row in found["rows"])


def test_damage_and_a_missing_segment_give_no_commands(trace: Path, acls: str, capsys: Any) -> None:
    path = segments(trace)[1]
    whole = path.read_bytes()
    path.write_bytes(whole[:30] + b"?" * 20 + whole[50:])
    found, text = unused(capsys, trace, acls)
    assert found["incomplete_input"]
    assert "--remove" not in text
    path.unlink()
    found, text = unused(capsys, trace, acls)
    assert found["incomplete_input"] == ["1 segment missing between others"]
    assert "--remove" not in text
    found, text = unused(capsys, trace, acls, "--accept-incomplete")
    assert text.count("--remove --force") == 3


def test_a_short_observation_gives_no_commands(trace: Path, acls: str, capsys: Any) -> None:
    found, text = unused(capsys, trace, acls, "--min-period", "11 days")
    assert found["incomplete_input"] == ["the accesses cover 10 days, 0:00:00, less than 11 days"]
    assert "no commands are printed" in text


@pytest.mark.parametrize("job", ["least-acls", "findings"])
def test_other_jobs_that_remove_give_no_commands_either(
    job: str, trace: Path, acls: str, tmp_path: Path, capsys: Any
) -> None:
    target = tmp_path / "change"
    words = {
        "least-acls": ["least-acls", str(trace), "--against", acls],
        "findings": [
            *("findings", str(trace), "--acls", acls, "--history", str(tmp_path / "history")),
            *("--pull-request", str(target)),
        ],
    }[job]
    segments(trace)[1].unlink()
    assert main(["pipeline", *words]) == 0
    assert "kafka-acls" not in capsys.readouterr().out
    assert not (target / "kafka-acls.sh").exists()
    assert main(["pipeline", *words, "--accept-incomplete"]) == 0
    assert ("kafka-acls" in capsys.readouterr().out) or (target / "kafka-acls.sh").exists()


def test_a_report_says_what_is_unproven(trace: Path, acls: str, capsys: Any) -> None:
    words = ["pipeline", "report", str(trace), "--acls", acls, "--candidate", acls]
    segments(trace)[1].unlink()
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "kafka-acls" not in text
    lines = [line for line in text.splitlines() if line.startswith(("Unused", "What breaks"))]
    assert [line.endswith("; unproven, since the input is incomplete.") for line in lines] == [
        True
    ] * 2
    assert main([*words, "--accept-incomplete"]) == 0
    text = capsys.readouterr().out
    assert "kafka-acls --remove" in text
    assert "unproven" not in text


@pytest.mark.parametrize("options", [(), ("--format", "yaml")])
def test_least_acls_of_an_incomplete_input_say_so(
    options: tuple[str, ...], trace: Path, capsys: Any
) -> None:
    words = ["pipeline", "least-acls", str(trace), *options]
    for length, is_said in ((None, False), (-40, True)):
        last = segments(trace)[-1]
        last.write_bytes(last.read_bytes()[:length])
        assert main(words) == 0
        printed = capsys.readouterr()
        assert ("ACLs may be missing" in printed.out + printed.err) is is_said
    assert main([*words, "--accept-incomplete"]) == 0
    printed = capsys.readouterr()
    assert "ACLs may be missing" not in printed.out + printed.err


LINE = (
    "[2026-11-21 23:53:42,497] INFO Principal = User:alice is Denied operation = READ from host ="
    " 127.0.0.1 on resource = Topic:LITERAL:audited for request = Fetch with resourceRefCount = 1"
    " based on rule DefaultDeny (kafka.authorizer.logger)\n"
)


def test_a_check_does_not_pass_because_of_a_log_with_denials_only(
    tmp_path: Path, acls: str, trace: Path, capsys: Any
) -> None:
    import_authorizer_log([LINE] * 3, tmp_path / "log")
    words = ["pipeline", "what-breaks", str(tmp_path / "log"), "--acls", acls]
    assert main([*words, "--fail-on", "loss"]) == 3
    assert "the log has denials only" in capsys.readouterr().out
    assert main([*words, "--fail-on", "loss", "--accept-incomplete"]) == 0
    assert main(["pipeline", "what-breaks", str(trace), "--acls", acls, "--fail-on", "loss"]) == 0


def ready(trace: Path, *options: str) -> int:
    words = ["pipeline", "readiness", str(trace), "--from-release", "3.9", "--to-release", "4.4"]
    return main([*words, "--fail-on", "any", *options])


def test_an_incomplete_input_is_not_called_ready(tmp_path: Path, capsys: Any) -> None:
    trace = tmp_path / "copy"
    shutil.copytree(Path(__file__).parents[2] / "examples" / "trace", trace)
    assert ready(trace) == 0
    assert "ready for 4.4" in capsys.readouterr().out
    (segment,) = segments(trace)
    segment.write_bytes(segment.read_bytes()[: segment.stat().st_size * 2 // 3])
    assert ready(trace) == 3
    text = capsys.readouterr().out
    assert "incomplete input: 1 segment without an index at the end" in text
    assert "ready for" not in text
    assert ready(trace, "--accept-incomplete") == 0


def test_a_log_without_clients_is_not_called_ready(trace: Path, capsys: Any) -> None:
    assert ready(trace) == 3
    assert "incomplete input: no client was observed" in capsys.readouterr().out


def test_findings_of_an_incomplete_input_say_so(
    trace: Path, acls: str, tmp_path: Path, capsys: Any
) -> None:
    words = ["pipeline", "findings", str(trace), "--acls", acls]
    assert main([*words, "--history", str(tmp_path / "first.json")]) == 0
    assert "incomplete" not in capsys.readouterr().out
    history = ["--history", str(tmp_path / "second.json"), "--min-period", "1000 days"]
    assert main([*words, *history]) == 0
    text = capsys.readouterr().out
    assert "incomplete input: the accesses cover" in text
    assert "the ACLs below may be in use" in text


def test_a_first_segment_that_is_not_given_is_stated(trace: Path, acls: str, capsys: Any) -> None:
    """--record-keep deletes old segments, so the rest is complete for its own period."""
    segments(trace)[0].unlink()
    found, text = unused(capsys, trace, acls, "--min-period", "1 day")
    assert found["incomplete_input"] == []
    assert "1 earlier segment of the trace not given" in text
