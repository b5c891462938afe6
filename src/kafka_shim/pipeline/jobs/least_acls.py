"""`least-acls`: the smallest ACL set that allows what was observed, and nothing that was denied."""

import argparse
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import WILDCARD, Acl
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.acls.guards import (
    acls_that_close_resources,
    acls_that_open_access,
    notes_on_last_acls,
    reasons_to_stay,
)
from kafka_shim.pipeline.engines.duckdb_engine import DuckDbEngine
from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.input_verdict import (
    add_min_period_option,
    incomplete_input_notes,
    input_problems,
    unaccepted_problems,
)
from kafka_shim.pipeline.job import Job
from kafka_shim.pipeline.options import ACL_FORMATS
from kafka_shim.pipeline.report.charts import Chart, count_acls_by_principal, largest_bars_chart
from kafka_shim.pipeline.report.outcome import (
    Outcome,
    access_outcome,
)
from kafka_shim.pipeline.rows.access_roles import PASSED, REFUSED
from kafka_shim.policy.formats import FORMATS, format_acls_losslessly
from kafka_shim.policy.formats.kafka_commands import format_command
from kafka_shim.policy.formats.trace_rule import parse_acl_rule
from kafka_shim.policy.formats.yaml_rules import acl_line
from kafka_shim.protocol.enums import Operation, PatternType, ResourceType
from kafka_shim.text.message_text import count_with_noun

if TYPE_CHECKING:
    from kafka_shim.pipeline.observation import Observation
    from kafka_shim.pipeline.trace_input import TraceInput


def least_acls(
    engine: DuckDbEngine,
    accesses: str,
    over_grants_max: int | None = None,
    super_users: Sequence[str] = (),
) -> str:
    """Return one row per ACL, in no order; `accesses` is `accesses_of_requests(...)`.

    Super users need no ACLs. With `over_grants_max`, literal names are joined into prefixes that
    allow each principal at most that many names that others used and this principal never did
    (`over_grants`). A prefix also allows names that nobody has used yet.
    """
    from kafka_shim.pipeline.least_grants import least_grant_rows

    return least_grant_rows(engine, accesses, over_grants_max, super_users)


def collect_sorted_acls(engine: DuckDbEngine, least_acl_rows: str) -> list[Acl]:
    """Collect the ACLs of a result in a stable order."""
    rows = engine.rows(engine.sql("select acl from {rows}", rows=least_acl_rows))
    texts = sorted(row["acl"] for row in rows)
    return [acl for text in texts if (acl := parse_acl_rule(text)) is not None]


def probable_super_users(engine: DuckDbEngine, accesses: str) -> list[str]:
    """Return principals that can change ACLs and were never denied, if the trace has no rules.

    If the broker logged its rules, accesses of super users are marked by their rule.
    """
    rows = engine.sql(
        """
        select principal from {accesses} group by principal
        having bool_and(allowed) and max(rule) = ''
            and bool_or(resource_type = 'CLUSTER' and operation = 'ALTER')
        order by principal
        """,
        accesses=accesses,
    )
    return [row["principal"] for row in engine.rows(rows)]


_SHOWN = ("acl", "requests", "over_grants")
_REMOVALS = (
    "remove only after adding: each removal takes away access that was not observed, but may be"
    " needed, as by a monthly job"
)
NOTED = 10
"""How many proposed prefixes are printed; for others only their number."""


def _add_least_acls_options(job: argparse.ArgumentParser) -> None:
    job.add_argument(
        "--over-grant",
        type=_parse_nonnegative_count,
        metavar="N",
        help="Join names under prefixes that allow each principal at most N known names that it"
        " never used (default: no prefixes)",
    )
    job.add_argument(
        "--against",
        metavar="FILE",
        help=f"Show what to add to and remove from these ACLs; {ACL_FORMATS}",
    )
    job.add_argument(
        "--format", choices=FORMATS, metavar="FORMAT", help="Print only the ACLs, in this format"
    )
    add_min_period_option(job)


def _parse_nonnegative_count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"invalid number `{text}`; expected 0 or more")
    return int(text)


def _check_output_format(args: argparse.Namespace) -> None:
    if args.format and (args.json or args.csv):
        raise PipelineError("--format cannot be combined with --json or --csv")


def _run(args: argparse.Namespace, trace_input: "TraceInput") -> Outcome:
    observation = trace_input.cached_observation(args)
    engine = observation.engine
    useful = engine.sql(
        f"select * from {{accesses}} where not (allowed and role in {(REFUSED, PASSED)})",
        accesses=observation.request_accesses,
    )
    expressible, name_notes = _drop_inexpressible_names(engine, useful)
    least = least_acls(
        engine,
        expressible,
        args.over_grant,
        observation.totals_and_settings["super_users"],
    )
    in_order = engine.sql("select * from {least} order by acl", least=least)
    with engine.cached(in_order) as cached:
        outcome = access_outcome(args, observation, cached, _SHOWN)
        acls = collect_sorted_acls(engine, cached)
    _verify_acls(acls, observation, expressible, outcome)
    outcome.notes += [
        *name_notes,
        *_unused_name_notes(acls),
        *_probable_super_user_notes(observation),
        *_generated_name_prefix_notes(acls),
    ]
    if args.against:
        present = observation.read_acl_set_with_observed_settings(args.against)
        needed = _unproven_removal_reasons(trace_input, observation, present, acls)
        problems = unaccepted_problems(args, observation.totals_and_settings)
        outcome.totals["incomplete_input"] = problems
        outcome.notes += incomplete_input_notes(problems, "no commands are printed")
        outcome.notes += _change_lines(present.acls, acls, needed, with_commands=not problems)
        going = set(present.acls) - {*acls, *needed}
        after = msgspec.structs.replace(present, acls=tuple({*present.acls, *acls}))
        outcome.notes += notes_on_last_acls(after, going)
        outcome.notes += _wider_acl_notes(present, acls)
        outcome.notes += _closing_notes(present, acls)
    elif not args.accept_incomplete:
        problems = input_problems(observation.totals_and_settings)
        outcome.totals["incomplete_input"] = problems
        outcome.notes += incomplete_input_notes(problems, "ACLs may be missing")
    if (
        not args.against
        and acls
        and observation.totals_and_settings["allow_everyone_if_no_acl_found"]
    ):
        outcome.notes.append(
            "resources without ACLs are open to everyone: these ACLs close theirs to all others"
        )
    if args.format:
        outcome.text = _format_acls(acls, args.format)
    return outcome


def _drop_inexpressible_names(engine: DuckDbEngine, accesses: str) -> tuple[str, list[str]]:
    """Return the accesses without those to names that no ACL alone can have, and notes about these.

    An ACL on the literal name `*` allows all resources of the type, and brokers reject an empty
    name.
    """
    from kafka_shim.pipeline.acl_decisions import IS_NAMED_STAR

    inexpressible = f"({IS_NAMED_STAR} or resource_name = '')"
    rows = engine.rows(
        engine.sql(
            "select distinct principal, operation, resource_type, resource_name from {accesses}"
            f" where allowed and {inexpressible} order by 1, 2, 3, 4",
            accesses=accesses,
        )
    )
    notes = [
        f"no ACL: {row['principal']} used {row['operation']} on the {row['resource_type']} "
        + (
            "named `*`, and an ACL with this name allows all; rename it"
            if row["resource_name"]
            else "with an empty name, which an ACL cannot have"
        )
        for row in rows
    ]
    if not rows:
        return accesses, notes
    named = f"select * from {{accesses}} where not {inexpressible}"
    return engine.sql(named, accesses=accesses), notes


def _unused_name_notes(acls: list[Acl]) -> list[str]:
    """Return a note if ACLs allow more than was observed: names that nobody has used yet."""
    prefixes = sum(acl.pattern_type is PatternType.PREFIXED for acl in acls)
    return (
        [f"{count_with_noun(prefixes, 'prefixed ACL')} also allow names that nobody has used yet"]
        if prefixes
        else []
    )


def _verify_acls(
    acls: list[Acl], observation: "Observation", accesses: str, outcome: Outcome
) -> None:
    """Check that the result allows what was observed; add a note about it."""
    from kafka_shim.pipeline.jobs.what_breaks import DENIED, what_breaks

    least = AclSet(
        tuple(acls),
        tuple(observation.totals_and_settings["super_users"]),
        release=observation.totals_and_settings["release"],
    )
    engine = observation.engine
    wrong = engine.rows(what_breaks(engine, accesses, least))
    for row in wrong:
        what = (
            f"{row['principal']} {row['operation']} {row['resource_type']}:{row['resource_name']}"
        )
        outcome.notes.append(f"check: {row['change']}: {what}")
    outcome.failed_own_check = any(row["change"] == DENIED for row in wrong)
    considered = observation.totals_and_settings["considered"]
    if not considered:
        result = "nothing was checked, since no access was judged"
    elif wrong:
        result = "checked with what-breaks: see the lines above"
    else:
        accesses = count_with_noun(considered, "access")
        result = f"checked with what-breaks: the decisions on {accesses} are the same"
    outcome.notes.append(f"{count_with_noun(len(acls), 'ACL')}; {result}")
    outcome.totals["changes"] = len(wrong)


def _probable_super_user_notes(observation: "Observation") -> list[str]:

    known = observation.totals_and_settings["super_users"]
    return [
        f"{user} changed ACLs and was never denied; if it is a super user, say --super-user {user}"
        for user in probable_super_users(observation.engine, observation.request_accesses)
        if user not in known
    ]


def _generated_name_prefix_notes(acls: list[Acl]) -> list[str]:
    """Return notes that propose prefixes for names that differ in each run."""
    from kafka_shim.policy.least.name_prefixes import count_generated_names

    found = [
        f"{count} names of {kind.name} look made up for one run, `{prefix}...`;"
        f" --over-grant 0 makes them the prefix `{prefix}`"
        for (kind, prefix), count in count_generated_names(acls).items()
    ]
    more = len(found) - NOTED
    return found[:NOTED] + ([f"and {more} more such prefixes"] if more > 0 else [])


def _format_acls(acls: list[Acl], acl_format: str) -> str:
    try:
        return format_acls_losslessly(acls, acl_format)
    except AclTextError as error:
        raise PipelineError(f"--format {acl_format}: {error}") from error


def _unproven_removal_reasons(
    trace_input: "TraceInput", observation: "Observation", present: AclSet, least: list[Acl]
) -> dict[Acl, str]:
    """Return the ACLs whose removal is not proven, although the least ACLs lack them."""
    from kafka_shim.pipeline.jobs.unused_acls import (
        acls_of_undecided_accesses,
        unknown_usage_reasons,
    )
    from kafka_shim.pipeline.jobs.what_breaks import what_breaks

    everything = observation.with_undecided_accesses()
    reasons = unknown_usage_reasons(trace_input, everything, present)
    reasons |= reasons_to_stay(present, least)
    while True:  # what stays may need others, such as a DENY
        needed = {*least, *reasons}
        missing = [acl for acl in present.acls if acl not in needed]
        staying = [acl for acl in present.acls if acl in reasons]
        changed = what_breaks(
            observation.engine,
            everything.request_accesses,
            observation.acl_set_with_observed_settings([*least, *staying]),
            baseline=present,
        )
        changing = acls_of_undecided_accesses(
            missing, set(map(_parse_changed_access, observation.engine.rows(changed)))
        )
        if not changing:
            return reasons
        reasons |= dict.fromkeys(changing, "without them, left-out accesses would change")


def _parse_changed_access(row: dict[str, Any]) -> tuple[str, Operation, ResourceType, str]:
    """Return principal, operation, resource type and name, empty for any name."""
    name = "" if row["resource_name"] == WILDCARD else row["resource_name"]
    return row["principal"], Operation[row["operation"]], ResourceType[row["resource_type"]], name


def _change_lines(
    present: Collection[Acl],
    wanted: list[Acl],
    reasons_against_removal: Mapping[Acl, str],
    *,
    with_commands: bool,
) -> list[str]:
    present_set, wanted_set = set(present), set(wanted)
    missing = [acl for acl in present if acl not in wanted_set]
    removed = [acl for acl in missing if acl not in reasons_against_removal]
    added = [acl for acl in wanted if acl not in present_set]
    reasons = Counter(
        reasons_against_removal[acl] for acl in missing if acl in reasons_against_removal
    )
    return [
        f"{len(added)} to add and {len(removed)} to remove",
        *("  " + format_command("--add", acl) for acl in added if with_commands),
        *("  " + format_command("--remove --force", acl) for acl in removed if with_commands),
        *([_REMOVALS] if removed else []),
        *(
            f"not known whether {count} other ACLs are needed: {reason}"
            for reason, count in reasons.items()
        ),
    ]


def _wider_acl_notes(present: AclSet, wanted: list[Acl]) -> list[str]:
    """Return the ACLs to add that allow more than today's, such as every host instead of one."""
    opening = acls_that_open_access(present, wanted)
    return _listed_acls("to add would open what today's ACLs deny, such as other hosts:", opening)


def _closing_notes(present: AclSet, wanted: list[Acl]) -> list[str]:
    """Return the ACLs to add that close what is open to everyone, as it has no ACL today."""
    closing = acls_that_close_resources(present, wanted)
    notes = _listed_acls(
        "to add would close what is open to everyone today, to all others:", closing
    )
    if closing:
        notes.append(
            "  add all ACLs of a resource in one request, as `policy plan --apply` does: after its"
            " first ACL, principals whose ACLs follow are denied"
        )
    return notes


def _listed_acls(head: str, acls: list[Acl]) -> list[str]:
    more = len(acls) - NOTED
    return [
        *([f"{len(acls)} {head}"] if acls else []),
        *(f"  {acl_line(acl)}" for acl in acls[:NOTED]),
        *([f"  and {more} more"] if more > 0 else []),
    ]


def _acls_by_principal_chart(outcome: Outcome) -> list[Chart]:
    return [
        largest_bars_chart(
            "ACLs needed, by principal", "ACLs", count_acls_by_principal(outcome.rows)
        )
    ]


JOB = Job(
    "Find the smallest ACL set that allows everything in the trace",
    _add_least_acls_options,
    _run,
    _acls_by_principal_chart,
    _check_output_format,
)
