"""Test known authorizers: `python -m tests.oracle.authorizer_rules.known_authorizers`.

The results are written to a page of the documentation. Needs Java 17, Maven and curl.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.docs.shown import ROOT
from tests.oracle.authorizer_rules.__main__ import IN_ZOOKEEPER, STANDARD, kit_command
from tests.oracle.authorizer_rules.opa_server import opa_server
from tests.oracle.real_kafka import fetched

PAGE: Final = ROOT / "docs" / "reference" / "authorizers.md"
OPA: Final = ("org.openpolicyagent.kafka", "opa-authorizer", "1.5.1")
OPA_CLASS: Final = "org.openpolicyagent.kafka.OpaAuthorizer"
OPA_URL: Final = "opa.authorizer.url"
STRIMZI: Final = ("io.strimzi", "kafka-oauth-keycloak-authorizer", "0.15.0")
UNUSED_ADDRESS: Final = "http://127.0.0.1:1"
ACCESS_RULES: Final = (
    "any-resource-allow", "any-resource-deny", "any-resource-scope", "deny-first", "deny-exact",
    "describe-implied", "operation-exact", "all-acls-count", "denied-by-default", "wildcard-name",
    "literal-names", "prefixes", "principals", "super-users", "hosts", "decisions-apart",
    "audit-flags", "request-context", "principal-classes",
)  # fmt: skip
"""Rules that can be tried if a policy server has the ACLs, in a time that tests have."""
_HEAD: Final = """\
# Authorizers compared with Kafka's

<!-- Which authorizers decide as Kafka does? What do others do? Does one allow too much? -->

How authorizers decide in the [test kit](../guides/authorizer-tck.md). Kafka's own two,
AclAuthorizer (with ZooKeeper, up to 3.9) and StandardAuthorizer (with KRaft), decide alike: every
rule that could be tried holds for both. A broken rule is not always a bug, because not every
authorizer promises to decide as Kafka's own do. *Not tried* means that a case needs what the
authorizer lacks, such as stored ACLs: nothing is known about the rule. {directions} In a clone,
`python -m tests.oracle.authorizer_rules.known_authorizers` measures these authorizers again; the
[guide](../guides/authorizer-tck.md) tests yours.

| authorizer | Kafka | rules hold | broken | not tried |
|---|---|---|---|---|
"""
_RULES_HEAD: Final = "| [rule](../guides/authorizer-tck.md#rules) | result | why |\n|---|---|---|\n"
_TOO_OPEN: Final = ": allowed, but with Kafka denied"
_TAIL: Final = """
## Not tested

Of Apache Ranger's plug-in, Maven Central has no newer version than 1.2.0
(`org.apache.ranger:ranger-kafka-plugin`). It implements the interface of Kafka before 2.4,
`kafka.security.auth.Authorizer`. Of Strimzi's authorizer, Maven Central has no newer version than
0.15.0. Authorizers that this page does not name were not tested.
"""


class Known(NamedTuple):
    """An authorizer with the release of Kafka, its artifact in Maven Central, and settings."""

    title: str
    release: str
    authorizer: str
    artifact: tuple[str, str, str] | None = None
    config: Sequence[str] = ()
    note: str = ""
    has_policy_server: bool = False


KNOWN: Final = (
    Known("StandardAuthorizer", "4.4.0", STANDARD),
    Known("StandardAuthorizer", "4.3.1", STANDARD),
    Known("StandardAuthorizer", "3.9.1", STANDARD),
    Known("AclAuthorizer", "3.9.1", IN_ZOOKEEPER),
    Known("AclAuthorizer", "2.8.2", IN_ZOOKEEPER),
    Known(
        "Strimzi's Keycloak authorizer 0.15.0",
        "3.9.1",
        "io.strimzi.kafka.oauth.server.authorizer.KeycloakAuthorizer",
        STRIMZI,
        (
            f"strimzi.authorization.token.endpoint.uri={UNUSED_ADDRESS}/token",
            "strimzi.authorization.client.id=kafka",
            "strimzi.authorization.delegate.to.kafka.acl=true",
            "principal.builder.class=io.strimzi.kafka.oauth.server.OAuthKafkaPrincipalBuilder",
            "process.roles=broker",
        ),
        "Without Keycloak: it passes principals without a token on to Kafka's StandardAuthorizer "
        "(`strimzi.authorization.delegate.to.kafka.acl=true`). Decisions by grants of Keycloak "
        "need a server, and were not tried.",
    ),
    Known(
        "Open Policy Agent's authorizer 1.5.1",
        "3.9.1",
        OPA_CLASS,
        OPA,
        (f"{OPA_URL}={UNUSED_ADDRESS}",),
        "Without a server: it stores no ACLs, so most cases cannot be tried.",
    ),
    Known(
        "Open Policy Agent's authorizer 1.5.1, with a policy server",
        "3.9.1",
        OPA_CLASS,
        OPA,
        note="The server decides by the ACLs of each case, which `--acl-command` sends to it. So "
        f"only the plug-in's part is tested, in {len(ACCESS_RULES)} rules about accesses.",
        has_policy_server=True,
    ),
)


def report(known: Known) -> dict[str, Any]:
    """Return the kit's report in JSON."""
    if not known.has_policy_server:
        return _report(known, known.config)
    with opa_server() as url:
        rules = [option for rule in ACCESS_RULES for option in ("--rule", rule)]
        sending = ["--acl-command", f"curl -sf -T - {url}/acls"]
        return _report(known, [f"{OPA_URL}={url}/v1/data/kafka/authz/allow"], *rules, *sending)


def _report(known: Known, config: Sequence[str], *options: str) -> dict[str, Any]:
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        settings = [option for each in config for option in ("--config", each)]
        command = kit_command(known.authorizer, known.release, "--json", file.name, *settings)
        if known.artifact is not None:
            jars = fetched("-".join(known.artifact[1:]), [known.artifact])
            at = command.index("--classpath")
            command[at:at] = ["--classpath", f"{jars}/*"]
        done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
        assert done.returncode in (0, 3), done.stderr
        content: dict[str, Any] = json.loads(Path(file.name).read_text(encoding="utf-8"))
    return content


def table_row(known: Known, found: dict[str, Any]) -> str:
    figures = " | ".join(str(found[key]) for key in ("held", "broken", "not_tried"))
    return f"| {known.title} | {known.release} | {figures} |\n"


def section(known: Known, found: dict[str, Any]) -> Iterator[str]:
    """Yield what is broken and what was not tried."""
    if found["held"] == len(found["rules"]):
        return
    yield f"\n## {known.title}, Kafka {known.release}\n\n"
    if known.note:
        yield f"{known.note}\n\n"
    yield _RULES_HEAD
    for rule in found["rules"]:
        if rule["result"] != "held":
            yield f"| {rule['rule']} | {rule['result']} | {_reason(rule)} |\n"


def _reason(rule: dict[str, Any]) -> str:
    cases = [case for case in rule["cases"] if case["result"] == rule["result"]]
    if not cases:
        return "this release of Kafka does not have the rule"
    first = cases[0]["text"].replace("|", "\\|").strip()
    first = re.sub(r"is not implemented: \S*(Error|Exception).*", "is not implemented", first)
    return f"{len(cases)} of {len(rule['cases'])} cases: {first}"


def directions(sections: str) -> str:
    """Return a sentence: whether a difference in the tables allows what Kafka denies."""
    count = sections.count(_TOO_OPEN)
    found = f"{count} of them allow" if count else "none of them allows"
    return (
        "The tables below have\nthe first difference of each broken rule: "
        f"{found} what Kafka denies."
    )


def main() -> int:
    reports = {known: report(known) for known in KNOWN}
    rows = "".join(table_row(*each) for each in reports.items())
    sections = "".join(text for each in reports.items() for text in section(*each))
    head = _HEAD.format(directions=directions(sections))
    PAGE.write_text(f"{head}{rows}{sections}{_TAIL}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
