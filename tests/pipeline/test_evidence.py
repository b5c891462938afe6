"""Advice about ACLs counts what a source shows, and says what it cannot show.

The log of Kafka 2.3.1 was recorded from a real broker; its lines do not name the requests.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.authorizer.model import Acl
from kafka_shim.pipeline import cli
from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.jobs import import_job
from kafka_shim.pipeline.option_checks import validated_reader_options
from kafka_shim.pipeline.rows.access_roles import LEFT_OUT, UNLOGGED
from kafka_shim.policy.formats import format_acls_losslessly
from kafka_shim.policy.formats.kafka_commands import format_command
from kafka_shim.policy.formats.trace_rule import format_acl_rule, parse_acl_rule
from kafka_shim.protocol.enums import ResourceType
from kafka_shim.trace_format.entries import AUDIT, DERIVED, RECORDED
from kafka_shim.traces.importers.authorizer_log import parse_authorizer_log_line
from kafka_shim.traces.importers.log_import import import_authorizer_log
from tests.pipeline import agreement
from tests.pipeline.asking import parsed
from tests.recordings.traffic.recording import AUDIT_LOG
from tests.support.checked_folders import PIPELINE

pytestmark = PIPELINE

pytest.importorskip("pyspark")

LOG = Path(__file__).parents[1] / "recordings" / "audit" / "recorded" / "2.3.1.txt"
GROUP_RULE = "GROUP|a:b c|LITERAL|User:alice|*|DESCRIBE|ALLOW"
OLD_RULE = "TOPIC|old|LITERAL|User:alice|*|READ|ALLOW"
ACL_FILE = """\
- {principal: User:alice, allow: Describe, group: "a:b c"}
- {principal: User:alice, allow: Read, topic: old}
"""


def rule(text: str) -> Acl:
    acl = parse_acl_rule(text)
    assert acl is not None
    return acl


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    with LOG.open(encoding="utf-8") as lines:
        import_authorizer_log(lines, tmp_path / "trace")
    return tmp_path / "trace"


def printed_objects(text: str) -> list[dict[str, Any]]:
    """Return the JSON objects that jobs of one command print one after the other."""
    objects, decoder, at = [], json.JSONDecoder(), 0
    while at < len(text.rstrip()):
        value, at = decoder.raw_decode(text, at)
        objects.append(value)
        at += len(text[at:]) - len(text[at:].lstrip())
    return objects


def test_a_log_that_names_no_requests_shows_what_was_used(
    trace: Path, tmp_path: Path, capsys: Any
) -> None:
    present, other = tmp_path / "present.yaml", tmp_path / "other.yaml"
    present.write_text(ACL_FILE)
    other.write_text(ACL_FILE.splitlines()[1])
    path = str(trace)
    local = [path, "--engine", "duckdb", "--json"]
    words = ["what-breaks", *local, "--acls", str(other)]
    words += ["--then", "unused-acls", *local, "--acls", str(present)]
    words += ["--then", "least-acls", *local, "--then", "denials", *local]
    assert cli.run(parsed(*words)) == 0
    output = capsys.readouterr()
    breaks, unused, least, denied = printed_objects(output.out)
    assert breaks["newly_denied"] == 1
    rows = {row["acl"]: row for row in unused["rows"]}
    assert rows[GROUP_RULE]["state"] == "needed"
    assert rows[GROUP_RULE]["remove"] is None
    assert rows[OLD_RULE]["can_go"]
    assert (unused["sources"], unused["log_has_denials_only"]) == ([AUDIT], False)
    assert GROUP_RULE in {row["acl"] for row in least["rows"]}
    assert len(denied["rows"]) == 3
    [unattributed] = denied["unattributed"]
    assert unattributed["principals"] == {"User:alice": 4}
    assert "the log does not show their requests" in output.out
    assert f"in 4 accesses from {unused['first_seen']} to {unused['last_seen']}" in output.out


LINE_OF_INIT = (
    "[2026-11-25 04:11:19,{}] TRACE Principal = User:alice is Denied operation = {} from host"
    " = 127.0.0.1 on resource = {} for request = InitProducerId with resourceRefCount = {}"
    " based on rule DefaultDeny (kafka.authorizer.logger)\n"
)
"""Of Kafka 4.4.0: WRITE on any topic follows a denied IDEMPOTENT_WRITE. If the made-up name is
denied, ACLs decide, which is not logged."""


def lines_of_init(millisecond: int = 228) -> list[str]:
    return [
        LINE_OF_INIT.format(228, "IDEMPOTENT_WRITE", "Cluster:LITERAL:kafka-cluster", 1),
        LINE_OF_INIT.format(millisecond, "WRITE", "Topic:LITERAL:hardcode", 0),
    ]


@pytest.mark.parametrize("millisecond", [228, 229])
def test_alternatives_of_a_request_are_one_at_any_time(
    millisecond: int, tmp_path: Path, capsys: Any
) -> None:
    assert import_authorizer_log(lines_of_init(millisecond), tmp_path / "trace").unread == 0
    file = tmp_path / "acls.yaml"
    file.write_text("- {principal: User:alice, allow: Write, topic: orders}\n")
    words = ["what-breaks", str(tmp_path / "trace"), "--acls", str(file), "--engine", "duckdb"]
    assert cli.run(parsed(*words, "--json")) == 0
    (outcome,) = printed_objects(capsys.readouterr().out)
    assert (outcome["newly_allowed"], outcome["rows"]) == (0, [])
    reasons = {total["reason"]: total["principals"] for total in outcome["left_out"]}
    assert reasons[LEFT_OUT[UNLOGGED]] == {"User:alice": 1}


def write_acls(*topics: str) -> str:
    return "".join(f"- {{principal: User:alice, allow: Write, topic: {name}}}\n" for name in topics)


ORDERS, INVOICES = (f"TOPIC|{name}|LITERAL|User:alice|*|WRITE|ALLOW" for name in ("orders", "inv"))
WROTE = (
    "[2026-11-25 04:11:20,001] DEBUG Principal = User:alice is Allowed operation = WRITE from host"
    " = 127.0.0.1 on resource = Topic:LITERAL:orders for request = Produce with resourceRefCount ="
    " 1 based on rule MatchingAcl(acl=StandardAcl[resourceType=TOPIC, resourceName=orders,"
    " patternType=LITERAL, principal=User:alice, host=*, operation=WRITE, permissionType=ALLOW])"
    " (kafka.authorizer.logger)\n"
)
BOB_READS = "TOPIC|old|LITERAL|User:bob|*|READ|ALLOW"
ALL_DESCRIBE = "TOPIC|old|LITERAL|User:*|*|DESCRIBE|ALLOW"
BY_BOB = WROTE.replace("User:alice", "User:bob")


@pytest.mark.parametrize(
    ("lines", "topics", "kept", "is_noted"),
    [
        ([*lines_of_init(), BY_BOB], ("orders",), {ORDERS}, False),
        ([*lines_of_init(), BY_BOB], ("orders", "inv"), {INVOICES}, False),  # one of them is enough
        ([*lines_of_init(), WROTE], ("orders", "inv"), {ORDERS}, False),
        ([WROTE], ("orders", "inv"), {ORDERS}, True),
        ([WROTE], ("orders",), {ORDERS}, False),
    ],
)
def test_the_acl_with_which_an_idempotent_producer_starts_is_kept(
    lines: list[str],
    topics: tuple[str, ...],
    kept: set[str],
    is_noted: bool,
    tmp_path: Path,
    capsys: Any,
) -> None:
    import_authorizer_log(lines, tmp_path / "trace")
    file = tmp_path / "acls.yaml"
    file.write_text(write_acls(*topics))
    words = ["unused-acls", str(tmp_path / "trace"), "--acls", str(file), "--engine", "duckdb"]
    assert cli.run(parsed(*words, "--json")) == 0
    output = capsys.readouterr()
    (outcome,) = printed_objects(output.out)
    assert {row["acl"] for row in outcome["rows"] if not row["can_go"]} == kept
    assert ("lets an idempotent producer start" in output.out) == is_noted


@pytest.mark.parametrize(
    ("selected", "known"),
    [
        (("--principal", "User:alice"), {ORDERS, INVOICES}),
        (("--principal", "User:alice", "--principal", "User:bob"), {ORDERS, INVOICES, BOB_READS}),
        (("--apis", "Produce"), {ORDERS}),
        ((), {ORDERS, INVOICES, BOB_READS, ALL_DESCRIBE}),
    ],
)
@pytest.mark.parametrize("job", ["unused-acls", "least-acls"])
def test_acls_outside_of_the_selection_are_not_removed(
    job: str, selected: tuple[str, ...], known: set[str], tmp_path: Path, capsys: Any
) -> None:
    """Bob's ACL and that of everybody are used by nobody, ORDERS is used by alice."""
    import_authorizer_log([WROTE, BY_BOB], tmp_path / "trace")
    file = tmp_path / "acls.yaml"
    acls = [rule(text) for text in (ORDERS, INVOICES, BOB_READS, ALL_DESCRIBE)]
    file.write_text(format_acls_losslessly(acls, "yaml"))
    option = "--acls" if job == "unused-acls" else "--against"
    words = [job, str(tmp_path / "trace"), option, str(file), "--accept-incomplete", *selected]
    assert cli.run(parsed(*words, "--json")) == 0
    output = "\n".join(json.loads(capsys.readouterr().out)["notes"])
    removed = {
        format_acl_rule(acl) for acl in acls if format_command("--remove --force", acl) in output
    }
    assert removed == known - {ORDERS}


def test_a_log_of_denials_shows_nothing_about_what_is_allowed(tmp_path: Path, capsys: Any) -> None:
    denied = [line for line in LOG.read_text().splitlines() if " is Denied " in line]
    import_authorizer_log(denied, tmp_path / "denied")
    acls = tmp_path / "acls.yaml"
    acls.write_text(ACL_FILE)
    local = [str(tmp_path / "denied"), "--engine", "duckdb", "--json"]
    words = ["what-breaks", *local, "--acls", str(acls), "--then", "least-acls", *local]
    assert cli.run(parsed(*words, "--then", "unused-acls", *local, "--acls", str(acls))) == 0
    output = capsys.readouterr()
    outcomes = printed_objects(output.out)
    assert [outcome["log_has_denials_only"] for outcome in outcomes] == [True] * 3
    assert not any(row["can_go"] for row in outcomes[-1]["rows"])
    assert output.out.count("the log has denials only, so what is allowed") == 3


def test_what_a_source_cannot_show_is_not_known() -> None:
    from kafka_shim.pipeline.jobs.unused_acls import reasons_for_unknown_acl_use

    used = rule(GROUP_RULE)
    cluster = rule("CLUSTER|kafka-cluster|LITERAL|User:audit|*|DESCRIBE|ALLOW")
    deny = rule("TOPIC|t|LITERAL|User:alice|*|READ|DENY")
    write = rule("TOPIC|t|LITERAL|User:bob|*|CREATE|ALLOW")
    hidden = rule("GROUP|a:b c|LITERAL|User:alice|*|DESCRIBE|DENY")
    read = rule("GROUP|a:b c|LITERAL|User:alice|*|READ|DENY")  # does not deny DESCRIBE
    acls = [used, cluster, deny, write, hidden, read]
    listing = {ResourceType.GROUP: frozenset({"User:alice"})}

    def unknown(sources: list[str], *, denials_only: bool = False) -> set[Acl]:
        return set(
            reasons_for_unknown_acl_use(acls, sources, listing, log_has_denials_only=denials_only)
        )

    assert unknown([]) == {*acls}
    assert unknown([RECORDED]) == set()
    assert unknown([AUDIT]) == set()
    assert unknown([AUDIT], denials_only=True) == {used, cluster, write}
    assert unknown([DERIVED]) == {used, cluster, hidden}


def test_an_acl_that_may_have_been_used_is_never_removable() -> None:
    from kafka_shim.pipeline.acls.acl_set import AclSet
    from kafka_shim.pipeline.acls.removable import (
        NEVER,
        NOT_KNOWN,
        usage_of_each_acl,
    )

    listed, old = rule(GROUP_RULE), rule(OLD_RULE)
    uses = usage_of_each_acl(AclSet((listed, old)), [], [], frozenset({listed}))
    assert [(use.state, use.can_be_removed_with_others) for use in uses] == [
        (NOT_KNOWN, False),
        (NEVER, True),
    ]


@pytest.mark.parametrize(
    ("option", "advice"),
    [("splitByte", "did you mean `splitBytes`"), ("colour", "maxBytesPerTrigger")],
)
def test_an_unknown_option_of_the_data_source_is_an_error(option: str, advice: str) -> None:
    from kafka_shim.pipeline.spark.data_source import KafkaTraceSource

    with pytest.raises(
        PipelineError, match=f"unknown option `{option}` of kafka_trace; .*{advice}"
    ):
        KafkaTraceSource({"path": "trace", option: "2026-01-01"})
    assert KafkaTraceSource({"PATH": "trace", "Since": "2026-01-01"}).options


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("splitBytes", "64m", "invalid splitBytes `64m`; expected a number of bytes"),
        ("splitBytes", "0", "invalid splitBytes `0`; expected a number of bytes"),
        ("maxBytesPerTrigger", "-5", "invalid maxBytesPerTrigger `-5`; expected a number of bytes"),
        ("startingOffsets", "newest", "invalid startingOffsets `newest`; expected earliest or lat"),
        ("since", "5", "invalid time `5` for since; expected one such as 2026-01-31T12:00:00Z"),
        ("until", "1999-01-01", "until 1999-01-01 is not after since 2000-01-01"),
        ("release", "9.9", "unknown Kafka release `9.9`; expected one of"),
        ("apis", "Fetsch", "unknown API `Fetsch`; expected a name such as Fetch"),
        ("principals", "alice", "principals `alice`: expected Type:name, as in User:alice"),
        ("principals", "[1]", "invalid principals `[1]`: Expected `str`, got `int`"),
        ("paths", "trace", "invalid paths `trace`: JSON is malformed"),
        ("paths", "[1]", "invalid paths `[1]`: Expected `str`, got `int`"),
    ],
)
def test_an_option_of_the_data_source_has_a_type(
    trace: Path, option: str, value: str, problem: str
) -> None:
    from pyspark.sql.types import StructType

    from kafka_shim.pipeline.spark.data_source import KafkaTraceSource

    source = KafkaTraceSource({"path": str(trace), "since": "2000-01-01", option: value})
    is_of_stream = option in ("maxBytesPerTrigger", "startingOffsets")
    make_reader = source.streamReader if is_of_stream else source.reader
    with pytest.raises(PipelineError, match=f"^{re.escape(problem)}"):
        make_reader(StructType())


def test_times_outside_of_the_trace_are_an_error(trace: Path) -> None:
    def options(*words: str) -> dict[str, str]:
        return validated_reader_options(
            parsed("denials", str(trace), *words), import_job("denials")
        )

    with pytest.raises(PipelineError, match="--since 2030-01-01: nothing was recorded then; the"):
        options("--since", "2030-01-01")
    with pytest.raises(PipelineError, match="the trace has 2026-11-21T23:52:34"):
        options("--until", "2020-01-01")
    assert options("--since", "2026-11-21")["since"] == "2026-11-21"


def test_a_path_with_wildcards_names_all_traces_that_match(trace: Path) -> None:
    from kafka_shim.pipeline.rows.batches import plan_splits

    assert plan_splits([f"{trace.parent}/tr*"]) == plan_splits([str(trace)]) != []
    with pytest.raises(PipelineError, match=r"no trace matches `/none/[*]`"):
        plan_splits(["/none/*"])
    watch = import_job("watch")
    assert validated_reader_options(parsed("watch", f"{trace.parent}/tr*"), watch)
    with pytest.raises(PipelineError, match="no trace matches"):
        validated_reader_options(parsed("watch", f"{trace.parent}/none*"), watch)


def test_an_interrupt_is_no_traceback(
    trace: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def interrupted(_: object) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(
        "kafka_shim.pipeline.spark_requirements.missing_requirement", lambda **_: None
    )
    monkeypatch.setattr("kafka_shim.pipeline.job_runner.run_chained_jobs", interrupted)
    assert cli.run(parsed("denials", str(trace), "--engine", "spark")) == 130
    assert capsys.readouterr().err == "kafka-shim pipeline denials: interrupted\n"


@pytest.mark.parametrize(
    "text",
    [
        "java.lang.UnsupportedClassVersionError: org/apache/spark/launcher/Main has been compiled",
        "Unrecognized option: --add-modules=jdk.incubator.vector",
    ],
)
def test_an_old_java_says_which_one_is_needed(text: str) -> None:
    from kafka_shim.pipeline.spark.failure_message import failure_line_with_advice

    assert failure_line_with_advice(RuntimeError(text)).endswith(
        "(Spark needs Java 17 or newer: install it, or set JAVA_HOME)"
    )


def test_no_acl_that_decided_anything_is_called_unused(tmp_path: Path, capsys: Any) -> None:
    """The recorded run of a real broker: its log names the ACL of each decision."""
    traces = agreement.unpacked(tmp_path)
    text = (tmp_path / AUDIT_LOG).read_text()
    lines = [line for line in map(parse_authorizer_log_line, text.splitlines()) if line is not None]
    deciding = {acl for line in lines if (acl := parse_acl_rule(line.rule)) is not None}
    assert len(deciding) > 10
    old = rule(OLD_RULE)
    present = tmp_path / "present.json"
    present.write_text(format_acls_losslessly([*deciding, old], "json"))
    words: list[str] = []
    for name in ("proxy", "audit log"):
        words += ["--then"] * bool(words)
        words += ["unused-acls", str(traces[name]), "--accept-incomplete"]
        words += ["--acls", str(present), "--json"]
    assert cli.run(parsed(*words)) == 0
    for outcome in printed_objects(capsys.readouterr().out):
        unused = {row["acl"] for row in outcome["rows"] if row["state"] == "never used"}
        states = {row["acl"]: row["state"] for row in outcome["rows"]}
        # alice lists all topics, and the proxy cannot show that the ACL had no part in that
        is_log = outcome["sources"] == [AUDIT]
        assert states[format_acl_rule(old)] == ("never used" if is_log else "not known")
        assert not unused & set(map(format_acl_rule, deciding)), outcome["sources"]
        assert {row["acl"] for row in outcome["rows"] if row["remove"]} >= unused
        assert not any(row["remove"] for row in outcome["rows"] if row["not_known"])
