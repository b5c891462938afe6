"""`what-breaks`: which accesses and requests a new ACL set would newly deny or allow."""

import argparse
from typing import TYPE_CHECKING, Any

from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.engines.duckdb_engine import DuckDbEngine
from kafka_shim.pipeline.input_verdict import (
    add_accept_incomplete_option,
    incomplete_input_notes,
    unaccepted_problems,
)
from kafka_shim.pipeline.job import Job
from kafka_shim.pipeline.options import ACL_FORMATS
from kafka_shim.pipeline.report.charts import (
    RESOURCE,
    Chart,
    largest_bars_chart,
    sum_by_columns,
)
from kafka_shim.pipeline.report.outcome import (
    Outcome,
    access_outcome,
)
from kafka_shim.pipeline.request_accesses import accesses_of_requests
from kafka_shim.pipeline.rows.access_roles import LISTS
from kafka_shim.pipeline.rows.access_row import DECISION_COLUMNS
from kafka_shim.text.message_text import count_with_noun
from kafka_shim.trace_format.entries import AUDIT

if TYPE_CHECKING:
    from kafka_shim.pipeline.observation import Observation
    from kafka_shim.pipeline.trace_input import TraceInput

DENIED = "newly denied"
ALLOWED = "newly allowed"
_KEYS = "change, principal, operation, resource_type, resource_name"
_SUMMED = (
    "principal, operation, resource_type, resource_name, host, api, requests, first_seen,"
    " last_seen, rule, would_be_rule, example"
)
"""The columns of decided accesses from which changes are made."""
COLUMNS = (
    "writer",
    "connection",
    "sequence",
    "time",
    "source",
    "role",
    *DECISION_COLUMNS,
    "allowed",
    "requests",
)
"""Those of the accesses by request that are needed."""


def what_breaks(
    engine: DuckDbEngine,
    accesses: str,
    candidate: AclSet,
    baseline: AclSet | None = None,
) -> str:
    """Return the changes by principal, operation and resource; empty without changes.

    `accesses` is `accesses_of_requests(...)`. The candidate is compared with the recorded
    decisions, or with those of `baseline` if it is given.
    """
    decided = possibly_changed_accesses(engine, accesses, candidate, baseline)
    changed = engine.materialize(
        engine.sql(
            f"select {_SUMMED}, allowed, would_be_allowed from {{decided}}"
            " where allowed <> would_be_allowed",
            decided=decided,
        )
    )
    return sort_changes(engine, sum_changed_decisions(engine, changed))


def possibly_changed_accesses(
    engine: DuckDbEngine,
    accesses: str,
    candidate: AclSet,
    baseline: AclSet | None = None,
) -> str:
    """Return the decided accesses except those, usually most, that were and stay allowed."""
    from kafka_shim.pipeline.acl_decisions import AclDecider

    if baseline is not None:
        undecided = ", ".join(
            name for name in engine.columns(accesses) if name not in ("allowed", "rule")
        )
        accesses = engine.sql(f"select {undecided} from {{accesses}}", accesses=accesses)
        before = AclDecider(engine, baseline)
        accesses = engine.materialize(
            before.replace_rule_numbers(before.with_decisions(accesses, ""), "")
        )
    after = AclDecider(engine, candidate)
    decided = engine.sql(
        "select * from {decided} where not (allowed and would_be_allowed)",
        decided=after.with_decisions(accesses, "would_be_"),
    )
    return after.replace_rule_numbers(decided, "would_be_")


def sum_changed_decisions(engine: DuckDbEngine, kept_decided_accesses: str) -> str:
    """Return the differences in decided accesses, by principal, operation and resource."""
    summed = engine.sql(
        f"""
        select {_KEYS}, array_sort(array_distinct(array_agg(host))) as hosts,
            array_sort(array_distinct(array_agg(api))) as apis,
            cast(sum(requests) as bigint) as requests, min(first_seen) as first_seen,
            max(last_seen) as last_seen, min_by(rule, first_seen) as rule,
            min_by(would_be_rule, first_seen) as would_be_rule,
            min_by(example, first_seen) as example
        from (
            select *, case when allowed then '{DENIED}' else '{ALLOWED}' end as change
            from {{decided}} where allowed <> would_be_allowed
        ) changed
        group by {_KEYS}
        """,
        decided=kept_decided_accesses,
    )
    return engine.materialize(summed)


def add_changed_request_counts(
    engine: DuckDbEngine,
    changes: str,
    possibly_changed: str,
    accesses: str,
    *,
    by_baseline: bool,
) -> str:
    """Return the rows of `sum_changed_decisions` with numbers of requests.

    `requests_changed` counts the requests that would newly fail or succeed, with this access among
    the causes; `requests_changed_of_principal` counts those of the principal with any cause.
    `possibly_changed` are the accesses with possible changes; `accesses` are those of each request,
    where `requests` counts equal requests.
    """
    decided = engine.materialize(
        _possibly_changed_accesses_by_request(
            engine, possibly_changed, accesses, by_baseline=by_baseline
        )
    )
    requests = engine.materialize(_requests_with_changed_result(engine, decided))
    same_request = " and ".join(f"r.{name} = d.{name}" for name in _REQUEST)
    return engine.sql(
        f"""
        select c.*, coalesce(k.requests_changed, 0) as requests_changed,
            coalesce(p.requests_changed_of_principal, 0) as requests_changed_of_principal
        from {{changes}} c
        left join (
            select {_KEYS}, cast(sum(requests) as bigint) as requests_changed from (
                select r.change, r.requests, d.principal,
                    {", ".join(f"d.{name}" for name in RESOURCE)}
                from {{decided}} d join {{requests}} r on {same_request}
                where d.is_changed
            ) causes group by {_KEYS}
        ) k on k.change = c.change and k.principal = c.principal and k.operation = c.operation
            and k.resource_type = c.resource_type and k.resource_name = c.resource_name
        left join (
            select change, principal,
                cast(sum(requests) as bigint) as requests_changed_of_principal
            from {{requests}} group by change, principal
        ) p on p.change = c.change and p.principal = c.principal
        """,
        changes=changes,
        decided=decided,
        requests=requests,
    )


def sort_changes(engine: DuckDbEngine, changes: str) -> str:
    """Sort changes: newly denied accesses first, then by number."""
    return engine.sql(
        f"select * from {{changes}} order by case when change = '{DENIED}' then 0 else 1 end,"
        f" requests desc, {_KEYS}",
        changes=changes,
    )


def sum_changes_by_principal(engine: DuckDbEngine, changes: str) -> str:
    """Sum accesses and requests by change and principal, most requests first."""
    return engine.sql(
        "select change, principal, count(*) as accesses,"
        " max(requests_changed_of_principal) as requests"
        " from {changes} group by change, principal order by requests desc, principal",
        changes=changes,
    )


_REQUEST = ("writer", "connection", "is_logged", "number", "api_key", "principal")
"""What identifies a request; lines of a log are accesses, whose requests have no number but a
time.
"""


def _possibly_changed_accesses_by_request(
    engine: DuckDbEngine, possibly_changed: str, accesses: str, *, by_baseline: bool
) -> str:
    """Return the distinct accesses of each request, except those that were and stay allowed.

    A broker stops at the first denial, so further accesses of that request are unknown.
    """
    columns = ", ".join(DECISION_COLUMNS)
    before = "allowed" if by_baseline else "cast(null as boolean)"
    keys = ", ".join((*_REQUEST, *RESOURCE))
    return engine.sql(
        f"""
        select {keys}, bool_or(not was_allowed) as was_denied,
            bool_or(not would_be_allowed) as would_be_denied,
            bool_or(was_allowed <> would_be_allowed) as is_changed, max(requests) as requests
        from (
            select a.requests, a.writer, a.connection, a.source = '{AUDIT}' as is_logged,
                case when a.source = '{AUDIT}' then unix_micros(a.time) else a.sequence end
                    as number,
                a.api_key, a.principal, {", ".join(f"a.{name}" for name in RESOURCE)},
                coalesce(v.was_allowed, a.allowed) as was_allowed, v.would_be_allowed
            from {{accesses}} a
            join (
                select distinct {columns}, {before} as was_allowed, would_be_allowed
                from {{possibly_changed}}
            ) v on {" and ".join(f"v.{name} = a.{name}" for name in DECISION_COLUMNS)}
            where a.allowed is not null
        ) accesses group by {keys}
        """,
        accesses=accesses,
        possibly_changed=possibly_changed,
    )


def _requests_with_changed_result(engine: DuckDbEngine, decided_by_request: str) -> str:
    """Return the requests whose result changes, equal ones in one row.

    A request fails when a required access is denied and its alternatives are not allowed either.
    """
    request = ", ".join(_REQUEST)
    return engine.sql(
        f"""
        select {request}, requests,
            case when would_fail then '{DENIED}' else '{ALLOWED}' end as change
        from (
            select {request}, max(requests) as requests, bool_or(was_denied) as failed,
                bool_or(would_be_denied) as would_fail
            from {{decided}} group by {request}
        ) requests
        where failed <> would_fail
        """,
        decided=decided_by_request,
    )


_SHOWN = (
    *("change", "principal", *RESOURCE, "requests", "requests_changed"),
    *("last_seen", "rule", "would_be_rule"),
)
PRINCIPALS_NOTED = 10
"""How many principals the text output lists; the JSON has all."""


def _add_options(job: argparse.ArgumentParser) -> None:
    text = f"The new ACLs ({ACL_FORMATS})"
    job.add_argument("--acls", required=True, metavar="FILE", help=text)
    job.add_argument(
        "--baseline",
        metavar="FILE",
        help="Compare with these ACLs instead of with the recorded decisions",
    )
    job.add_argument(
        "--fail-on",
        choices=("loss", "gain", "any"),
        help="Exit with code 3 if accesses would be newly denied (loss), newly allowed (gain), or"
        " either, or if the input is incomplete",
    )
    add_accept_incomplete_option(job)


def _run(args: argparse.Namespace, trace_input: "TraceInput") -> Outcome:
    engine = trace_input.engine
    observation = trace_input.cached_observation(args)
    read = observation.read_acl_set_with_observed_settings
    compared = read(args.acls), read(args.baseline) if args.baseline else None
    lists = _count_changed_listed_names(args, observation, compared)
    decided_accesses = possibly_changed_accesses(engine, observation.request_accesses, *compared)
    with engine.cached(decided_accesses) as decided:
        rows = _changes_with_request_counts(args, trace_input, decided)
        with engine.cached(sort_changes(engine, rows)) as changes:
            outcome = access_outcome(args, observation, changes, _SHOWN)
            _add_totals_note(args, engine, changes, outcome)
    outcome.totals["lists"] = lists
    outcome.notes += [_listed_names_note(change) for change in lists]
    return outcome


def _changes_with_request_counts(
    args: argparse.Namespace, trace_input: "TraceInput", decided: str
) -> str:
    """Return the changes; the affected requests are searched only if there are changes."""
    engine = trace_input.engine
    changes = sum_changed_decisions(engine, decided)
    if not engine.count_rows(changes):
        return engine.sql(
            "select *, 0 as requests_changed, 0 as requests_changed_of_principal from {changes}",
            changes=changes,
        )
    keys = ", ".join(("principal", *RESOURCE))
    changed = engine.sql(f"select distinct {keys} from {{decided}}", decided=decided)
    reader = trace_input.reader
    requested = reader.sql(
        f"select * from {{accesses}} semi join {{changed}} using ({keys})",
        accesses=trace_input.accesses_by_request(*COLUMNS),
        changed=reader.relation_from_arrow(engine.arrow_rows(changed)),
    )
    accesses = accesses_of_requests(engine, trace_input.to_deciding_engine(requested))
    return add_changed_request_counts(
        engine, changes, decided, accesses, by_baseline=args.baseline is not None
    )


def _count_changed_listed_names(
    args: argparse.Namespace, observation: "Observation", compared: tuple[AclSet, AclSet | None]
) -> list[dict[str, Any]]:
    """Return how many names the new ACLs would remove from or add to lists, by principal.

    The result is empty if there are no lists, or if the job is to treat them like requests.
    """
    if args.lists or not observation.totals_and_settings["left_out_lists"]:
        return []
    engine = observation.engine
    lists = engine.sql(
        f"select * from {{accesses}} where role in {LISTS}", accesses=observation.all_accesses
    )
    changed = what_breaks(engine, lists, *compared)
    keys = "change, principal, resource_type"
    return engine.rows(
        engine.sql(
            f"select {keys}, count(distinct resource_name) as names from {{changed}}"
            f" group by {keys} order by {keys}",
            changed=changed,
        )
    )


def _listed_names_note(change: dict[str, Any]) -> str:
    effect = "no longer show" if change["change"] == DENIED else "newly show"
    kind = f"{change['names']} names of type {change['resource_type']}"
    return f"responses would {effect} {kind} to {change['principal']}; --lists has the names"


def _add_totals_note(
    args: argparse.Namespace, engine: DuckDbEngine, changes: str, outcome: Outcome
) -> None:
    """Add a note: how many accesses and requests change, and of which principals."""
    found = engine.rows(sum_changes_by_principal(engine, changes))
    denied, allowed = (
        [row for row in found if row["change"] == change] for change in (DENIED, ALLOWED)
    )
    outcome.totals |= {
        "newly_denied": sum(row["accesses"] for row in denied),
        "newly_allowed": sum(row["accesses"] for row in allowed),
        "requests_newly_failing": sum(row["requests"] for row in denied),
        "requests_newly_succeeding": sum(row["requests"] for row in allowed),
        "principals": found,
    }
    head = outcome.totals
    failing, succeeding = head["requests_newly_failing"], head["requests_newly_succeeding"]
    outcome.notes += [
        f"{head['newly_denied']} newly denied, {head['newly_allowed']} newly allowed",
        f"{count_with_noun(failing, 'request')} would newly fail, {succeeding} newly succeed",
    ]
    for verb, rows in (("fail", denied), ("succeed", allowed)):
        concerned = [row for row in rows if row["requests"]]
        lines = [f"  {row['requests']} of {row['principal']} {verb}" for row in concerned]
        outcome.notes += lines[:PRINCIPALS_NOTED]
        if len(lines) > PRINCIPALS_NOTED:
            outcome.notes.append(f"  and of {len(lines) - PRINCIPALS_NOTED} more; --json has all")
    outcome.notes.append("accesses outside the trace are not compared; `policy diff` compares all")
    problems = unaccepted_problems(args, head)
    outcome.totals["incomplete_input"] = problems
    outcome.notes += incomplete_input_notes(problems, "what is not listed may fail, too")
    failing_rows = {"loss": denied, "gain": allowed, "any": found}
    outcome.has_failing_findings = bool(args.fail_on and (failing_rows[args.fail_on] or problems))


def _change_charts(outcome: Outcome) -> list[Chart]:
    charts = []
    for change in dict.fromkeys(row["change"] for row in outcome.rows):
        rows = [row for row in outcome.rows if row["change"] == change]
        head = f"Accesses {change}"
        charts.append(
            largest_bars_chart(
                f"{head}, by principal", "accesses", sum_by_columns(rows, "principal")
            )
        )
        charts.append(
            largest_bars_chart(f"{head}, by resource", "accesses", sum_by_columns(rows, *RESOURCE))
        )
        # a request may have several causes, so a principal's total is not the sum of its rows
        principals = {row["principal"]: row["requests_changed_of_principal"] for row in rows}
        verb = {"newly denied": "fail", "newly allowed": "succeed"}[change]
        title = f"Requests that would newly {verb}, by principal"
        charts.append(largest_bars_chart(title, "requests", [*principals.items()]))
    return charts


JOB = Job(
    "Show what a new ACL set would newly deny and newly allow",
    _add_options,
    _run,
    _change_charts,
)
