"""Examples for `--help`; commands with a longer description have their examples there."""

from typing import Final

EXAMPLES: Final = {
    "kafka-shim serve": (
        "kafka-shim serve --user alice:secret --topic orders:3",
        "kafka-shim serve --kafka-version 2.8 --acls acls.yaml --control 127.0.0.1:8080",
    ),
    "kafka-shim run": (
        "kafka-shim run --topic orders -- pytest tests",
        "kafka-shim run --user alice:secret --record trace -- npm test",
        "kafka-shim run -- sh -c 'KAFKA_URL=$KAFKA_BOOTSTRAP_SERVERS mvn test'",
    ),
    "kafka-shim principal": (
        "kafka-shim principal 'RULE:^CN=(.*?),.*$/$1/,DEFAULT' CN=alice,O=example",
    ),
    "kafka-shim proxy": (
        "kafka-shim proxy --upstream kafka.example.com:9092 --record trace",
    ),
    "kafka-shim conformance run": (
        'kafka-shim conformance run --client-command "python my_client.py"',
    ),
    "kafka-shim conformance check": ("kafka-shim conformance check trace --format junit",),
    "kafka-shim conformance report": (
        "kafka-shim conformance report librdkafka.json franz-go.json --format html",
    ),
    "kafka-shim conformance list": ("kafka-shim conformance list --json",),
    "kafka-shim trace info": ("kafka-shim trace info trace",),
    "kafka-shim trace cat": ("kafka-shim trace cat trace --lines",),
    "kafka-shim trace grep": (
        "kafka-shim trace grep trace --denied --principal User:alice --lines",
    ),
    "kafka-shim trace view": ("kafka-shim trace view trace --port 8080",),
    "kafka-shim trace import": (
        "kafka-shim trace import --input-format pcap kafka.pcapng trace",
        "kafka-shim trace import --input-format audit-log kafka-authorizer.log trace",
    ),
    "kafka-shim trace export": (
        "kafka-shim trace export trace --format pcap --out kafka.pcap",
    ),
    "kafka-shim vectors run": (
        "kafka-shim vectors run vectors/4.4.0 --bootstrap-server HOST:9092 --sasl-server HOST:9093",
    ),
    "kafka-shim vectors list": (
        "kafka-shim vectors list vectors/4.4.0 --api Metadata --error 29",
    ),
    "kafka-shim vectors show": (
        "kafka-shim vectors show vectors/4.4.0 --id 4.4.0/access-matrix/m17/1",
    ),
    "kafka-shim requirements": (
        "kafka-shim requirements --api Fetch",
        "kafka-shim requirements --resource-type GROUP --kafka-version 3.9",
    ),
    "kafka-shim pipeline ingest": ("kafka-shim pipeline ingest trace --out lake",),
    "kafka-shim pipeline what-breaks": (
        "kafka-shim pipeline what-breaks trace --acls new.yaml --fail-on loss",
    ),
    "kafka-shim pipeline unused-acls": (
        "kafka-shim pipeline unused-acls trace --acls acls.yaml",
    ),
    "kafka-shim pipeline findings": (
        "kafka-shim pipeline findings lake --acls acls.yaml --fail-on new",
        "kafka-shim pipeline findings lake --acls acls.yaml --topics topics.txt --pull-request new",
    ),
    "kafka-shim pipeline least-acls": ("kafka-shim pipeline least-acls trace --format yaml",),
    "kafka-shim pipeline denials": (
        "kafka-shim pipeline denials trace --since 2026-11-01 --interval '1 hour'",
    ),
    "kafka-shim pipeline clients": ("kafka-shim pipeline clients trace",),
    "kafka-shim pipeline readiness": (
        "kafka-shim pipeline readiness trace --from-release 3.9 --to-release 4.4",
    ),
    "kafka-shim pipeline diff": ("kafka-shim pipeline diff before after --fail-on any",),
    "kafka-shim pipeline timeline": (
        "kafka-shim pipeline timeline trace --interval '10 seconds' --html timeline.html",
    ),
    "kafka-shim pipeline watch": ("kafka-shim pipeline watch trace --acls new.yaml",),
    "kafka-shim pipeline damage": ("kafka-shim pipeline damage trace",),
    "kafka-shim pipeline report": ("kafka-shim pipeline report trace --html report.html",),
}  # fmt: skip


GROUPS: Final = (
    ("Broker", "kafka-shim run --topic orders -- pytest tests", ("serve", "run", "principal")),
    (
        "Permissions",
        "kafka-shim who-can Write topic:orders --acls acls.yaml",
        ("acls", "explain", "who-can", "policy", "least-acls", "requirements", "mcp"),
    ),
    (
        "Traces",
        "kafka-shim pipeline denials trace",
        ("proxy", "replay", "trace", "pipeline"),
    ),
    (
        "Conformance",
        "kafka-shim conformance run --client-command 'python my_client.py'",
        ("conformance", "vectors"),
    ),
    ("Shell", "kafka-shim completion bash >>~/.bashrc", ("completion",)),
)
"""Title, example and commands of each part of `kafka-shim --help`."""
SUBCOMMANDS: Final = {
    "conformance": "suite, report, run, check, list",
    "pipeline": "ingest, what-breaks, unused-acls, findings, least-acls, denials, clients,"
    " readiness, diff, timeline, watch, damage, report",
    "policy": "test, diff, lint, matrix, plan, apply, equivalent, implies, disjoint, check,"
    " compact, schema",
    "trace": "info, cat, grep, view, import, export",
    "vectors": "run, list, show",
}
"""As in the commands' own parsers, whose modules take three times as long as the whole help."""

_MISMATCHES: Final = {
    "kafka-shim principal": "3 no rule matches a subject",
    "kafka-shim conformance run": "3 a behaviour failed",
    "kafka-shim conformance check": "3 a behaviour failed",
    "kafka-shim vectors run": "3 a response differs",
    "kafka-shim trace import": "3 too many entries cannot be read",
}


def exit_codes_line(command: str, *, can_fail_on_findings: bool) -> str:
    """Return the exit codes of a command whose description does not name them."""
    mismatch = _MISMATCHES.get(command)
    if mismatch is None and can_fail_on_findings:
        mismatch = "3 with --fail-on: something was found"
    codes = ("0 done", mismatch, "2 usage error", "1 another failure")
    return f"exit codes: {', '.join(filter(None, codes))}"


def examples_section(command: str) -> str | None:
    """Return the part of a command's help with its examples; None if it has none here."""
    if command not in EXAMPLES:
        return None
    title = "example" if len(EXAMPLES[command]) == 1 else "examples"
    return "\n".join([f"{title}:", *(f"  {line}" for line in EXAMPLES[command])])
