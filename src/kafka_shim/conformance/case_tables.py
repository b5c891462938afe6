"""Lists of the cases, and why some are not also played on real brokers."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from kafka_shim.conformance import RequirementLevel
from kafka_shim.conformance.case import Case

SHIM_ONLY_CASES = (
    ("kips.acls.unknown-*", "returns a number that no release defines"),
    ("kips.acls.delete-*", "refuses one of several filters, or fails to delete one ACL"),
    ("kips.operations.*-bit-by-bit", "returns one operation at a time"),
    ("kips.operations.*-unknown-bits", "returns bits that no release defines"),
    (
        "kips.operations.*-minimum",
        "returns Int32.MIN, which means that operations are unknown",
    ),
    ("kips.operations.*-none", "returns no operation for a resource that may be described"),
    ("kips.offset-fetch.denied-*", "denies OffsetFetch after the coordinator was found"),
    ("versions.damaged-batch.*", "returns a record batch with a wrong checksum"),
    ("versions.disjoint.*", "lists versions that no release has"),
    ("versions.vanished.*", "does not list an API that the release has"),
    ("versions.unknown-apis", "lists APIs that no release has"),
    ("versions.newer-versions", "lists versions that no release has"),
    ("versions.unknown-code.*", "returns an error code that no release defines"),
    ("versions.unknown-tags.*", "returns a tagged field that no release has"),
    ("versions.ten-megabytes.*", "returns an unknown tagged field of 10 MB"),
    ("versions.null.*", "returns null in a field that brokers fill"),
    ("versions.empty.*", "returns an empty list where a broker has entries"),
    ("versions.throttle.*", "inspects when requests arrive, since only this shows the behaviour"),
    ("versions.rebootstrap-required", "returns REBOOTSTRAP_REQUIRED (129), as proxies do"),
    ("logins.illegal-state.*", "returns ILLEGAL_SASL_STATE (34), like a listener without SASL"),
    ("logins.false-broker.signature-*", "has another server key than that of the password"),
    ("logins.false-broker.nonce-*", "sends a nonce that is not an extension of the client's"),
    ("logins.false-broker.certificate", "has a certificate for another host"),
    ("logins.unknown-code", "returns an error code that no release defines"),
    ("trouble.fetch-session.lost", "returns FETCH_SESSION_ID_NOT_FOUND (70) for one request"),
    ("trouble.*.retried", "returns the error for one request"),
    ("trouble.*.reports-final-error", "returns the error for one request, whatever it contains"),
    ("trouble.*.closed-*", "closes the connection at one request"),
    ("trouble.*.cut-off", "sends the first bytes of a response, and closes the connection"),
    ("trouble.cut-off.*", "sends the first bytes of a response, and closes the connection"),
    (
        "trouble.leader-moved.*-without-hint",
        "leaves out the leader, which real brokers of the release include",
    ),
    (
        "trouble.reports-final-error.*",
        "returns the error for every request of the API, whatever it contains",
    ),
    ("trouble.recovers.*", "returns the error for one request"),
    ("trouble.rebalance.in-commit", "returns the error for one request"),
    ("trouble.oversized.*", "announces a response of 2 GiB"),
    ("trouble.negative-size.*", "announces a response of a negative length"),
    ("trouble.wrong-correlation-id.*", "returns another correlation id"),
    ("trouble.garbled.*", "returns a response with inverted bits"),
    ("trouble.slow.*", "answers one request late"),
    ("trouble.never.*", "does not answer a request"),
    ("tools.denied-broker.*", "denies requests to one of three brokers"),
    ("tools.odd-principals.*", "has ACLs that CreateAcls of the release refuses"),
    ("tools.many-acls.*", "has 60,000 ACLs at once"),
    ("tools.no-operations.*", "returns Int32.MIN, which means that operations are unknown"),
)
"""What the shim does in cases that cannot be played on a real broker, by patterns of ids."""

FAMILY_SUBJECTS = {
    "denials": "authorization errors, and permissions that a running client loses",
    "kips": "ACLs, authorized operations, OffsetFetch and idempotent producers",
    "versions": "releases, missing and newer API versions, unknown and empty fields, throttling",
    "logins": "authentication: wrong passwords, tokens, expired sessions, TLS",
    "trouble": "moved leaders and coordinators, fenced members, lost and corrupt responses",
    "tools": "partial denials in tools that show or change a cluster",
}
"""What the cases of each family are about."""


def case_list_text(cases: Sequence[Case], output_format: str) -> str:
    """Return the list of cases in one of the formats of reports."""
    if output_format == "markdown":
        return "".join(f"{line}\n" for line in real_cluster_coverage_tables(cases))
    if output_format != "json":
        width = max(len(case.id) for case in cases)
        return "".join(
            f"{case.id:<{width}} {case.level.value:<7} {case.origin:<8} {case.title}\n"
            for case in cases
        )
    rows = [
        {
            "id": case.id,
            "what": case.title,
            "origin": case.origin,
            "level": case.level.value,
            "releases": case.release_range,
            "is_real": case.runs_on_real_cluster,
            "brokers": case.setup.brokers,
            "commands": sorted(case.commands),
            "capabilities": sorted(case.capabilities),
            "response": case.expected_response,
            "wire": case.expected_requests,
        }
        for case in cases
    ]
    return json.dumps(rows, indent=2) + "\n"


def real_cluster_coverage_tables(cases: Sequence[Case]) -> Iterator[str]:
    """Yield two tables: cases that are played on real brokers, and those that cannot be."""
    yield (
        "| family | about | cases | `must` | `should` "
        "| on a real broker | on one with TLS | on two real brokers | on none |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for family in dict.fromkeys(case.family_name for case in cases):
        of_family = [case for case in cases if case.family_name == family]
        yield _coverage_row(f"`{family}` | {FAMILY_SUBJECTS[family]}", of_family)
    yield _coverage_row("all |", cases)
    yield ""
    yield "| on no real broker | cases | what the shim does there |"
    yield "|---|---|---|"
    shim_only_cases = [case for case in cases if not case.runs_on_real_cluster]
    patterns = Counter(_shim_only_pattern(case) for case in shim_only_cases)
    for pattern, does in SHIM_ONLY_CASES:
        if patterns[pattern]:
            yield f"| `{pattern}` | {patterns[pattern]} | {does} |"


def _shim_only_pattern(case: Case) -> str:
    return next(pattern for pattern, _ in SHIM_ONLY_CASES if fnmatchcase(case.id, pattern))


def _coverage_row(name: str, cases: Sequence[Case]) -> str:
    real = [case for case in cases if case.runs_on_real_cluster]
    two = sum(case.setup.brokers > 1 for case in real)
    tls = sum(case.setup.has_tls for case in real)
    must = sum(case.level is RequirementLevel.MUST for case in cases)
    levels = (must, len(cases) - must)
    cells = (len(cases), *levels, len(real) - two - tls, tls, two, len(cases) - len(real))
    return f"| {name} | {' | '.join(map(str, cells))} |"
