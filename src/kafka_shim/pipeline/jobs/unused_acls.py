"""`unused-acls`: ACLs that no request needs, with the commands that remove them."""

import argparse
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka_shim.authorizer.acl_rules import operations_whose_allow_includes
from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Acl
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.acls.guards import (
    acls_that_alone_allow_access,
    find_overruled_allows,
    notes_on_last_acls,
)
from kafka_shim.pipeline.engines.duckdb_engine import DuckDbEngine
from kafka_shim.pipeline.engines.engine import Relation, SqlEngine
from kafka_shim.pipeline.input_verdict import (
    add_min_period_option,
    incomplete_input_notes,
    unaccepted_problems,
)
from kafka_shim.pipeline.job import Job
from kafka_shim.pipeline.lazy import pa
from kafka_shim.pipeline.options import ACL_FORMATS
from kafka_shim.pipeline.report.charts import (
    Chart,
    count_acls_by_principal,
    largest_bars_chart,
    sum_by_columns,
)
from kafka_shim.pipeline.report.outcome import (
    Outcome,
    access_outcome,
)
from kafka_shim.pipeline.rows.access_roles import POSSIBLE, UNIDENTIFIED, UNLOGGED
from kafka_shim.pipeline.selection_options import selection_from_options
from kafka_shim.policy.formats.kafka_commands import format_command
from kafka_shim.policy.formats.trace_rule import format_acl_rule, readable_rule
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.text.message_text import count_with_noun
from kafka_shim.trace_format.entries import AUDIT, DERIVED, RECORDED, UNKNOWN_PRINCIPAL

if TYPE_CHECKING:
    from kafka_shim.pipeline.observation import Observation
    from kafka_shim.pipeline.trace_input import TraceInput


def unused_acls(
    engine: DuckDbEngine,
    accesses: str,
    present_acls: AclSet,
    reason_by_acl_without_evidence: Mapping[Acl, str] | None = None,
    *,
    with_commands: bool = True,
) -> str:
    """Return one row per ACL of the set; `remove` is the line that removes it, if it can be
    removed. DENYs stay: `holds_back` has the ALLOWs that a DENY overrules.

    `accesses` is `accesses_of_requests(..., with_listed_accesses=True)`.
    `reason_by_acl_without_evidence` has the reason for each ACL whose use the observation cannot
    show; see `reasons_for_unknown_acl_use`. An ACL may be needed by requests that were not
    observed, so the observation must be long enough.
    """
    from kafka_shim.pipeline.acl_signatures import split_by_signature
    from kafka_shim.pipeline.acls.removable import NOT_KNOWN, usage_of_each_acl

    reasons = reason_by_acl_without_evidence or {}
    allows = [acl for acl in present_acls.acls if acl.permission is Permission.ALLOW]
    signature_counts, for_authorizer = split_by_signature(engine, accesses, present_acls)
    rows = [
        {
            "acl": format_acl_rule(use.acl),
            "state": use.state,
            "requests": use.requests,
            "last_used": use.last_used,
            "shadowed_by": None if use.shadowed_by is None else format_acl_rule(use.shadowed_by),
            "can_go": use.can_be_removed_with_others,
            "not_known": reasons.get(use.acl, WITHOUT_SHOWN_EFFECT)
            if use.state == NOT_KNOWN
            else None,
            "remove": format_command("--remove --force", use.acl)
            if use.can_be_removed_with_others and with_commands
            else None,
            "holds_back": list(map(format_acl_rule, find_overruled_allows(use.acl, allows)))
            if use.acl.permission is Permission.DENY
            else None,
        }
        for use in usage_of_each_acl(
            present_acls, signature_counts, for_authorizer, frozenset(reasons)
        )
    ]
    return engine.relation_from_arrow(pa.Table.from_pylist(rows, _result_schema()))


def _result_schema() -> "pa.Schema":
    return pa.schema(
        [
            ("acl", pa.string()),
            ("state", pa.string()),
            ("requests", pa.int64()),
            ("last_used", pa.timestamp("us", tz="UTC")),
            ("shadowed_by", pa.string()),
            ("can_go", pa.bool_()),
            ("not_known", pa.string()),
            ("remove", pa.string()),
            ("holds_back", pa.list_(pa.string())),
        ]
    )


WITHOUT_SHOWN_EFFECT = "the responses may be the same without it"
"""Why it is not known of an ACL that decided accesses whether it is needed."""
LISTING_TYPES = {
    ApiKey.METADATA: ResourceType.TOPIC,
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: ResourceType.TOPIC,
    ApiKey.OFFSET_FETCH: ResourceType.TOPIC,
    ApiKey.LIST_GROUPS: ResourceType.GROUP,
    ApiKey.LIST_TRANSACTIONS: ResourceType.TRANSACTIONAL_ID,
}
"""APIs whose requests can list all resources of a type that the principal may describe."""


def listing_principals_by_type(
    engine: SqlEngine, requests: Relation
) -> dict[ResourceType, frozenset[str]]:
    """Return the principals that listed all resources of a type; `requests` is that table."""
    keys = ", ".join(str(int(key)) for key in LISTING_TYPES)
    rows = engine.sql(
        f"select distinct api_key, principal from {{requests}} where api_key in ({keys})"
        f" and (api_key <> {int(ApiKey.METADATA)} or size(topics) = 0)",
        requests=requests,
    )
    principals: dict[ResourceType, frozenset[str]] = {}
    for row in engine.rows(rows):
        resource_type = LISTING_TYPES[ApiKey(row["api_key"])]
        principals[resource_type] = principals.get(resource_type, frozenset()) | {row["principal"]}
    return principals


def reasons_for_unknown_acl_use(
    acls: Iterable[Acl],
    sources: Collection[str],
    principals_that_listed: Mapping[ResourceType, frozenset[str]],
    *,
    log_has_denials_only: bool,
) -> dict[Acl, str]:
    """Return the ACLs whose use the sources cannot show, with the reason.

    `principals_that_listed` are those in derived traces, by the type of which they listed all
    resources. `log_has_denials_only` tells whether an authorizer's log lacks allowed accesses.
    """
    reasons = {}
    for acl in acls:
        if not sources:
            reasons[acl] = "no access was observed"
        elif log_has_denials_only:
            if acl.permission is Permission.ALLOW:
                reasons[acl] = "the log has denials only"
        elif DERIVED in sources and acl.resource_type is ResourceType.CLUSTER:
            reasons[acl] = "messages do not show which alternative was allowed"
        elif DERIVED in sources and _may_decide(acl, Operation.DESCRIBE):
            principals = principals_that_listed.get(acl.resource_type, frozenset())
            if principals & {UNKNOWN_PRINCIPAL, acl.principal} or (
                principals and acl.principal == ANY_USER
            ):
                reasons[acl] = "messages do not show all that decided a list"
    return reasons


_SOURCES = {
    RECORDED: "recorded decisions",
    DERIVED: "derived from messages",
    AUDIT: "an authorizer's log",
}
DENIES_NOTED = 10
"""How many DENYs the text output lists."""
_SHOWN = ("state", "can_go", "requests", "last_used", "acl", "shadowed_by", "not_known")


def _add_required_acls_option(job: argparse.ArgumentParser) -> None:
    text = f"The ACLs in force ({ACL_FORMATS})"
    job.add_argument("--acls", required=True, metavar="FILE", help=text)
    add_min_period_option(job)


def _run(args: argparse.Namespace, trace_input: "TraceInput") -> Outcome:
    observation = trace_input.cached_observation(args).with_undecided_accesses()
    present = observation.read_acl_set_with_observed_settings(args.acls)
    reasons = unknown_usage_reasons(trace_input, observation, present)
    engine = observation.engine
    problems = unaccepted_problems(args, observation.totals_and_settings)
    usage = unused_acls(
        engine, observation.request_accesses, present, reasons, with_commands=not problems
    )
    with engine.cached(usage) as cached:
        outcome = access_outcome(args, observation, cached, _SHOWN)
        outcome.totals["incomplete_input"] = problems
        outcome.notes += incomplete_input_notes(problems, "no commands are printed")
        _propose_removals(observation, present, cached, outcome)
    return outcome


def acls_of_undecided_accesses(
    acls: Iterable[Acl], undecided: Collection[tuple[str, Operation, ResourceType, str]]
) -> frozenset[Acl]:
    """Return the ACLs that may have decided an access without a known decision.

    `undecided` are principal, operation, resource type and name; an empty name is unknown.
    """
    by_type: dict[ResourceType, list[tuple[str, Operation, str]]] = {}
    for principal, operation, resource_type, name in undecided:
        by_type.setdefault(resource_type, []).append((principal, operation, name))
    return frozenset(
        acl
        for acl in acls
        if any(
            (principal in (acl.principal, UNKNOWN_PRINCIPAL) or acl.principal == ANY_USER)
            and _may_decide(acl, operation)
            and _may_cover_name(acl, name)
            for principal, operation, name in by_type.get(acl.resource_type, ())
        )
    )


def _may_decide(acl: Acl, operation: Operation) -> bool:
    """Return whether the ACL applies to the operation: a DENY does not imply other operations."""
    if acl.permission is Permission.DENY:
        return acl.operation in (operation, Operation.ALL)
    return acl.operation in operations_whose_allow_includes(operation)


def _may_cover_name(acl: Acl, name: str) -> bool:
    if not name or acl.resource_name == WILDCARD:
        return True
    is_prefix = acl.pattern_type is PatternType.PREFIXED
    return name.startswith(acl.resource_name) if is_prefix else name == acl.resource_name


def _accesses_without_decision(
    trace_input: "TraceInput",
) -> set[tuple[str, Operation, ResourceType, str]]:
    """Return the distinct derived accesses without a known decision, or without a principal."""
    columns = ("principal", "operation", "resource_type", "resource_name")
    accesses = trace_input.table("accesses", "time", "api_key", "allowed", "role", *columns)
    rows = trace_input.reader.sql(
        f"select distinct {', '.join(columns)} from {{accesses}}"
        f" where allowed is null or role = '{UNIDENTIFIED}'",
        accesses=accesses,
    )
    return set(map(_access_of_row, trace_input.reader.rows(rows)))


def unknown_usage_reasons(
    trace_input: "TraceInput", observation: "Observation", present: AclSet
) -> dict[Acl, str]:
    """Return the ACLs whose use the observation cannot show, with the reason."""
    sources = observation.totals_and_settings["sources"]
    listing = {}
    if DERIVED in sources:
        listing = listing_principals_by_type(
            trace_input.reader,
            trace_input.table("requests", "time", "api_key", "principal", "topics"),
        )
    denials_only = observation.totals_and_settings["log_has_denials_only"]
    reasons = reasons_for_unknown_acl_use(
        present.acls, sources, listing, log_has_denials_only=denials_only
    )
    if DERIVED in sources:
        undecided = _accesses_without_decision(trace_input)
        unidentified = {access for access in undecided if access[0] == UNKNOWN_PRINCIPAL}
        for accesses, reason in (
            (undecided, "messages do not show the decisions of some requests"),
            (unidentified, "the trace does not show whose some requests are"),
        ):
            used = acls_of_undecided_accesses(present.acls, accesses)
            reasons |= dict.fromkeys(used, reason)
    used = acls_of_undecided_accesses(present.acls, _possible_accesses(observation))
    reasons |= dict.fromkeys(used, "some requests need it only in some states of the broker")
    return reasons | _unselected_usage_reasons(trace_input, present)


def _possible_accesses(
    observation: "Observation",
) -> set[tuple[str, Operation, ResourceType, str]]:
    """Return the distinct allowed accesses that depend on the state of the broker."""
    engine = observation.engine
    rows = engine.sql(
        "select distinct principal, operation, resource_type, resource_name from {accesses}"
        f" where allowed and role = '{POSSIBLE}'",
        accesses=observation.all_accesses,
    )
    return set(map(_access_of_row, engine.rows(rows)))


def _access_of_row(row: Mapping[str, Any]) -> tuple[str, Operation, ResourceType, str]:
    return (
        row["principal"],
        Operation[row["operation"]],
        ResourceType[row["resource_type"]],
        row["resource_name"],
    )


def _unselected_usage_reasons(trace_input: "TraceInput", present: AclSet) -> dict[Acl, str]:
    """Return the ACLs that accesses may have used that --apis or --principal leave out."""
    selection = selection_from_options(trace_input.options)
    if selection.apis:
        return dict.fromkeys(present.acls, "--apis leaves out requests")
    return {
        acl: "--principal leaves out accesses"
        for acl in present.acls
        if selection.principals and acl.principal not in selection.principals
    }


def _propose_removals(
    observation: "Observation", present: "AclSet", usage: str, outcome: Outcome
) -> None:
    """Add the lines that remove ACLs, after a check that no decision changes without them."""
    from kafka_shim.pipeline.jobs.what_breaks import what_breaks

    head, engine = observation.totals_and_settings, observation.engine
    rows = engine.rows(engine.sql("select acl, remove from {usage} where can_go", usage=usage))
    removable = {row["acl"] for row in rows}
    remaining = [acl for acl in present.acls if format_acl_rule(acl) not in removable]
    changed = what_breaks(
        engine,
        observation.request_accesses,
        observation.acl_set_with_observed_settings(remaining),
        baseline=present,
    )
    changes = engine.count_rows(changed)
    outcome.failed_own_check = changes > 0
    outcome.notes.append(
        f"{len(removable)} of {len(present.acls)} ACLs can be removed together: in"
        f" {head['considered']} accesses from {head['first_seen']} to {head['last_seen']}"
        f" ({sources_text(head['sources'])}), {changes or 'no'} decisions depend on them"
        if head["considered"]
        else "no ACL can be removed: no access was judged"
    )
    outcome.notes += _removal_notes(present, rows)
    outcome.notes += _held_back_notes(engine, usage)
    if _may_allow_init_producer_id(observation, present, removable):
        outcome.notes.append(
            "a log without the level TRACE does not show that WRITE on any topic lets an idempotent"
            " producer start (InitProducerId)"
        )
    for reason, count in _count_unknown_usage_by_reason(engine, usage).items():
        outcome.notes.append(f"not known whether {count} other ACLs are needed: {reason}")
    outcome.totals["changes"] = changes


def _removal_notes(present: AclSet, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the removable ACLs' commands: first those that change no decision, observed or not."""
    removable = {row["acl"] for row in rows}
    going = [acl for acl in present.acls if format_acl_rule(acl) in removable]
    alone = set(map(format_acl_rule, acls_that_alone_allow_access(present, going)))
    for title, of_title in (
        ("change no access, observed or not", [row for row in rows if row["acl"] not in alone]),
        (
            "take away access that was not observed, but may be needed, as by a monthly job",
            [row for row in rows if row["acl"] in alone],
        ),
    ):
        if of_title:
            yield f"{len(of_title)} of these {title}{':' if of_title[0]['remove'] else ''}"
        yield from (f"  {row['remove']}" for row in of_title if row["remove"])
    yield from notes_on_last_acls(present, set(going))


def _held_back_notes(engine: DuckDbEngine, usage: str) -> Iterator[str]:
    """Yield the DENYs with what each holds back: nothing says that one without requests is idle."""
    denies = engine.rows(
        engine.sql(
            "select acl, requests, holds_back from {usage} where holds_back is not null"
            " order by requests desc, acl",
            usage=usage,
        )
    )
    if denies:
        yield f"kept: {count_with_noun(len(denies), 'DENY ACL')}, which may hold something back:"
    for row in denies[:DENIES_NOTED]:
        held = [*map(readable_rule, row["holds_back"])]
        what = ", ".join(held[:2]) + (f" and {len(held) - 2} more" if len(held) > 2 else "")
        yield f"  {readable_rule(row['acl'])} overrules {what or 'no ALLOW of today'}"
    if len(denies) > DENIES_NOTED:
        yield f"  and {len(denies) - DENIES_NOTED} more; --json has all"


def _may_allow_init_producer_id(
    observation: "Observation", present: "AclSet", removable: Collection[str]
) -> bool:
    """Return whether one of these ACLs may have allowed InitProducerId (KIP-679) unseen."""
    if AUDIT not in observation.totals_and_settings["sources"]:
        return False
    logged = observation.engine.sql(
        f"select 1 as found from {{accesses}} where role = '{UNLOGGED}' limit 1",
        accesses=observation.all_accesses,
    )
    return not observation.engine.count_rows(logged) and any(
        acl.resource_type is ResourceType.TOPIC
        and acl.permission is Permission.ALLOW
        and _may_decide(acl, Operation.WRITE)
        and format_acl_rule(acl) in removable
        for acl in present.acls
    )


def _count_unknown_usage_by_reason(engine: DuckDbEngine, usage: str) -> dict[str, int]:
    rows = engine.sql(
        "select not_known, count(*) as acls from {usage} where not_known is not null"
        " group by not_known order by not_known",
        usage=usage,
    )
    return {row["not_known"]: row["acls"] for row in engine.rows(rows)}


def sources_text(sources: Sequence[str]) -> str:
    return ", ".join(_SOURCES[source] for source in sources)


def _usage_charts(outcome: Outcome) -> list[Chart]:
    states = sum_by_columns(outcome.rows, "state", value_column="")
    removable = [row for row in outcome.rows if row["can_go"]]
    charts = [largest_bars_chart("ACLs by state", "ACLs", states)]
    if removable:
        by_principal = count_acls_by_principal(removable)
        charts.append(
            largest_bars_chart("ACLs that can be removed, by principal", "ACLs", by_principal)
        )
    return charts


JOB = Job(
    "List ACLs that the trace never needed, with the commands to remove them",
    _add_required_acls_option,
    _run,
    _usage_charts,
)
