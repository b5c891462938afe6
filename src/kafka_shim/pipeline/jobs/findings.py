"""`findings`: what is new since the last run among unused ACLs, denials and missing topics."""

import argparse
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka_shim.authorizer.model import WILDCARD, Acl
from kafka_shim.pipeline.acl_change_files import write_acl_change_files
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.acls.guards import acls_that_alone_allow_access, notes_on_last_acls
from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.findings_history import (
    NEW,
    RESOLVED,
    Finding,
    FindingsHistory,
    classify_findings,
    merge_latest_times,
    read_findings_history,
    status_row,
    write_findings_history,
)
from kafka_shim.pipeline.input_verdict import (
    add_min_period_option,
    incomplete_input_notes,
    unaccepted_problems,
)
from kafka_shim.pipeline.job import Job
from kafka_shim.pipeline.jobs.denials import denials
from kafka_shim.pipeline.jobs.unused_acls import (
    sources_text,
    unknown_usage_reasons,
    unused_acls,
)
from kafka_shim.pipeline.lazy import pa
from kafka_shim.pipeline.options import ACL_FORMATS
from kafka_shim.pipeline.report.outcome import Outcome, access_outcome
from kafka_shim.pipeline.selection_options import selection_from_options
from kafka_shim.policy.formats.trace_rule import format_acl_rule, readable_rule
from kafka_shim.policy.witness import resource_can_exist
from kafka_shim.protocol.enums import ApiKey, PatternType, ResourceType
from kafka_shim.text.message_text import count_with_noun

if TYPE_CHECKING:
    from kafka_shim.pipeline.observation import Observation
    from kafka_shim.pipeline.trace_input import TraceInput

UNUSED, DENIED, NO_TOPIC = "unused ACL", "denied access", "ACL without a topic"
HISTORY_FILE = "findings.json"
"""The history in a lake."""
_SHOWN = ("status", "kind", "subject", "found_at", "last_seen", "detail")


def unused_acl_findings(
    usage_rows: Iterable[dict[str, Any]],
    last_use_by_acl: dict[str, str],
    last_need_by_acl: dict[str, str],
) -> Iterator[Finding]:
    """Yield a finding for each ACL that no observed request needs.

    `usage_rows` are those of `unused_acls`. The last uses include those of earlier runs, and
    `last_need_by_acl` has the ACLs that requests of earlier runs needed.
    """
    for row in usage_rows:
        if row["can_go"]:
            rule, detail = row["acl"], row["state"]
            if rule in last_need_by_acl:
                detail += " in this observation, but an earlier one needed it"
            yield Finding(UNUSED, rule, last_use_by_acl.get(rule), detail)


def denial_findings(denial_rows: Iterable[dict[str, Any]]) -> Iterator[Finding]:
    """Yield a finding for each denied access; the rows are those of `denials`."""
    for row in denial_rows:
        name = f"{row['resource_type']}:{row['resource_name']}"
        subject = f"{row['principal']} {row['operation']} {name}"
        detail = row["remedy"] + (f" ({row['also_opens']})" if row["also_opens"] else "")
        yield Finding(DENIED, subject, _iso_text(row["last_seen"]), detail)


def missing_topic_findings(
    acls: Iterable[Acl], topics: Collection[str], last_use_by_acl: dict[str, str]
) -> Iterator[Finding]:
    """Yield a finding for each ACL on a topic name or prefix that no existing topic has."""
    for acl in acls:
        if acl.resource_type is not ResourceType.TOPIC or acl.resource_name == WILDCARD:
            continue
        is_prefix = acl.pattern_type is PatternType.PREFIXED
        name = acl.resource_name
        if not (any(topic.startswith(name) for topic in topics) if is_prefix else name in topics):
            rule = format_acl_rule(acl)
            detail = "no topic has this prefix" if is_prefix else "no such topic"
            yield Finding(NO_TOPIC, rule, last_use_by_acl.get(rule), detail)


def removable_acls(
    present: AclSet, findings: Iterable[Finding], last_need_by_acl: dict[str, str]
) -> list[Acl]:
    """Return the unused ACLs, except those that requests of earlier runs needed."""
    unused = {finding.subject for finding in findings if finding.kind == UNUSED}
    removable = unused - last_need_by_acl.keys()
    return [acl for acl in present.acls if format_acl_rule(acl) in removable]


def _iso_text(time: Any) -> str:
    return str(time.astimezone(UTC).isoformat())


def _add_options(job: argparse.ArgumentParser) -> None:
    add = job.add_argument
    add("--acls", required=True, metavar="FILE", help=f"The ACLs in force ({ACL_FORMATS})")
    add(
        "--history",
        metavar="FILE",
        help=f"File that keeps the findings between runs (default: {HISTORY_FILE} in the lake)",
    )
    add(
        "--topics",
        metavar="FILE",
        help="Names of the existing topics, one per line, as kafka-topics --list prints them",
    )
    add(
        "--pull-request",
        metavar="FOLDER",
        help="Write the remaining ACLs (Strimzi, Terraform, YAML), the kafka-acls commands that"
        " remove the others, and the proof",
    )
    add(
        "--fail-on",
        choices=("new", "any"),
        help="Exit with code 3 if there are new findings, or any that are still open",
    )
    add_min_period_option(job)


def _run(args: argparse.Namespace, trace_input: "TraceInput") -> Outcome:
    path = _history_path(args, trace_input)
    history, topics = read_findings_history(path), _read_existing_topics(args.topics)
    selection = selection_from_options(trace_input.options)
    apis = sorted(ApiKey(key).wire_name for key in selection.apis)
    principals = sorted(selection.principals)
    _check_selection_covers_history(path, history, apis, principals)
    observation = trace_input.cached_observation(args).with_undecided_accesses()
    present = observation.read_acl_set_with_observed_settings(args.acls)
    engine = observation.engine
    reasons = unknown_usage_reasons(trace_input, observation, present)
    accesses = observation.request_accesses
    usage = engine.rows(unused_acls(engine, accesses, present, reasons))
    last_uses = merge_latest_times(
        history.last_use_by_acl,
        {row["acl"]: _iso_text(row["last_used"]) for row in usage if row["last_used"] is not None},
    )
    requested = trace_input.cached_observation(args).request_accesses
    needed_earlier = history.last_need_by_acl
    found = [
        *unused_acl_findings(usage, last_uses, needed_earlier),
        *denial_findings(engine.rows(denials(engine, requested, present))),
    ]
    if topics is not None:
        found += missing_topic_findings(present.acls, topics, last_uses)
    until = observation.totals_and_settings["last_seen"]
    statuses = classify_findings(history, found, until)
    outcome = _make_outcome(args, observation, statuses)
    outcome.totals["last_use_by_acl"] = last_uses
    problems = unaccepted_problems(args, observation.totals_and_settings)
    outcome.totals["incomplete_input"] = problems
    if problems and args.pull_request:
        outcome.notes += incomplete_input_notes(problems, "no pull request is written")
        outcome.has_failing_findings |= bool(args.fail_on)
    elif any(finding.kind == UNUSED for finding in found):
        outcome.notes += incomplete_input_notes(problems, "the ACLs below may be in use")
    if args.pull_request and not problems:
        removed = removable_acls(present, found, needed_earlier)
        _write_pull_request(args, observation, present, removed, found, outcome)
    still_open = [finding for status, finding in statuses if status != RESOLVED]
    needs = {row["acl"]: until for row in usage if until is not None and not row["can_go"]}
    last_needs = merge_latest_times(history.last_need_by_acl, needs)
    write_findings_history(
        path, FindingsHistory(apis, principals, until, still_open, last_uses, last_needs)
    )
    return outcome


def _check_selection_covers_history(
    path: Path, history: FindingsHistory, apis: list[str], principals: list[str]
) -> None:
    """Raise PipelineError if findings that are not selected would be called resolved."""
    if history.findings and (history.apis, history.principals) != (apis, principals):
        raise PipelineError(
            f"{path}: its findings are of other --apis or --principal; name another --history"
        )


def _history_path(args: argparse.Namespace, trace_input: "TraceInput") -> Path:
    lake = trace_input.lake_folder()
    if args.history is None and lake is None:
        raise PipelineError("a trace keeps no findings: name a file with --history, or use a lake")
    return lake / HISTORY_FILE if lake and args.history is None else Path(args.history)


def _read_existing_topics(path: str | None) -> frozenset[str] | None:
    if path is None:
        return None
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise PipelineError(f"{path}: {error}") from error
    names = {number: line.strip() for number, line in enumerate(lines, start=1) if line.strip()}
    if not names:
        raise PipelineError(f"{path}: contains no names of topics")
    for number, name in names.items():
        if not resource_can_exist(ResourceType.TOPIC, name):
            raise PipelineError(f"{path}: line {number}: `{name}` is not a name of a topic")
    return frozenset(names.values())


def _make_outcome(
    args: argparse.Namespace, observation: "Observation", statuses: list[tuple[str, Finding]]
) -> Outcome:
    schema = pa.schema([(name, pa.string()) for name in _SHOWN])
    rows = [status_row(status, finding) for status, finding in statuses]
    relation = observation.engine.relation_from_arrow(pa.Table.from_pylist(rows, schema))
    outcome = access_outcome(args, observation, relation, _SHOWN)
    counts = [sum(row["status"] == status for row in rows) for status in (NEW, RESOLVED)]
    outcome.totals |= {"new": counts[0], "resolved": counts[1]}
    is_open = len(rows) - sum(counts)
    outcome.notes.append(
        f"{count_with_noun(counts[0], 'new finding')}, {is_open} open, {counts[1]} no longer found"
        " since the last run"
    )
    failing_counts = {"new": counts[0], "any": counts[0] + is_open, None: 0}
    outcome.has_failing_findings = failing_counts[args.fail_on] > 0
    return outcome


def _write_pull_request(
    args: argparse.Namespace,
    observation: "Observation",
    present: AclSet,
    removed: list[Acl],
    found: list[Finding],
    outcome: Outcome,
) -> None:
    """Write the files, after a check that no decision changes without the removed ACLs."""
    from kafka_shim.pipeline.jobs.what_breaks import what_breaks

    gone = set(removed)
    remaining = [acl for acl in present.acls if acl not in gone]
    candidate = observation.acl_set_with_observed_settings(remaining)
    engine = observation.engine
    changes = engine.count_rows(
        what_breaks(engine, observation.request_accesses, candidate, baseline=present)
    )
    outcome.failed_own_check = changes > 0
    head = observation.totals_and_settings
    if changes or not head["considered"]:
        outcome.notes.append(
            f"no pull request: {changes} decisions depend on these ACLs"
            if changes
            else "no pull request: no access was judged"
        )
        return
    alone = set(map(format_acl_rule, acls_that_alone_allow_access(present, removed)))
    period = f"{head['first_seen']} to {head['last_seen']}"
    proof = [
        f"{len(removed)} of {len(present.acls)} ACLs are removed.",
        f"Accesses: {head['considered']}, {period}, {sources_text(head['sources'])}.",
        "Each was decided with all ACLs and with the remaining ones: no decision differs.",
        "Nothing that is denied now becomes allowed, observed or not: every DENY stays.",
        *notes_on_last_acls(present, gone),
        f"{len(alone)} of the removals take away access that was not observed, but may be needed.",
        "The other removals change no access, observed or not.",
        *outcome.notes[1:-1],
        *(
            f"`{readable_rule(finding.subject)}`: {finding.detail}"
            + ("; takes away access" if finding.subject in alone else "")
            for finding in found
            if finding.kind == UNUSED
        ),
    ]
    files = write_acl_change_files(Path(args.pull_request), remaining, removed, proof)
    outcome.notes.append(f"{', '.join(files)} written to {args.pull_request}")


JOB = Job(
    "List new and resolved findings since the last run: unused ACLs, denials, missing topics",
    _add_options,
    _run,
)
