"""`least-acls`: the smallest ACL set that allows what was observed."""

import argparse
from typing import TYPE_CHECKING

from kafka_shim.authorizer.acl_formats import FORMATS, write
from kafka_shim.authorizer.acl_formats.kafka_commands import command
from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import Acl
from kafka_shim.pipeline.commands.command import Command
from kafka_shim.pipeline.commands.options import ACL_FORMATS
from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.report.charts import Chart, bars
from kafka_shim.pipeline.report.outcome import Outcome
from kafka_shim.pipeline.report.totals import acls_by_principal

if TYPE_CHECKING:
    from kafka_shim.pipeline.commands.reading import Observation, Source

_SHOWN = ("acl", "requests", "over_grants")
NOTED = 10
"""How many proposed prefixes are printed; for others only their number."""


def _add_options(job: argparse.ArgumentParser) -> None:
    job.add_argument(
        "--over-grant",
        type=_count,
        metavar="N",
        help="join names under prefixes that allow each principal at most N known names that it"
        " never used (default: no prefixes)",
    )
    job.add_argument(
        "--against",
        metavar="FILE",
        help=f"show what to add to and remove from these ACLs; {ACL_FORMATS}",
    )
    job.add_argument(
        "--to", choices=FORMATS, metavar="FORMAT", help="print only the ACLs, in this format"
    )


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"invalid number `{text}`; expected 0 or more")
    return int(text)


def _check(args: argparse.Namespace) -> None:
    if args.to and (args.json or args.csv):
        raise PipelineError("--to cannot be combined with --json or --csv")


def _run(args: argparse.Namespace, source: "Source") -> Outcome:
    from kafka_shim.pipeline.commands.outcomes import access_outcome, kept
    from kafka_shim.pipeline.jobs.least_acls import collected, least_acls

    seen = source.observation(args)
    least = least_acls(seen.accesses, args.over_grant, seen.head["super_users"])
    with kept(least.orderBy("acl")) as frame:
        outcome = access_outcome(args, seen, frame, _SHOWN)
        acls = collected(frame)
    _note_check(acls, seen, outcome)
    outcome.notes += [*_super_user_notes(seen), *_prefix_notes(acls)]
    if args.against:
        from kafka_shim.pipeline.acls.acl_set import read_acls

        outcome.notes += _difference(read_acls(args.against), acls)
    if args.to:
        outcome.text = _written(acls, args.to)
    return outcome


def _note_check(acls: list[Acl], seen: "Observation", outcome: Outcome) -> None:
    """Check that the result allows what was observed; add a note about it."""
    from kafka_shim.pipeline.acls.acl_set import AclSet
    from kafka_shim.pipeline.jobs.what_breaks import DENIED, what_breaks

    least = AclSet(tuple(acls), tuple(seen.head["super_users"]), release=seen.head["release"])
    wrong = what_breaks(seen.accesses, least).collect()
    for row in wrong:
        what = (
            f"{row['principal']} {row['operation']} {row['resource_type']}:{row['resource_name']}"
        )
        outcome.notes.append(f"check: {row['change']}: {what}")
    outcome.is_wrong = any(row["change"] == DENIED for row in wrong)
    verdict = "all observed decisions are the same" if not wrong else "see the lines above"
    outcome.notes.append(f"{len(acls)} ACLs; checked with what-breaks: {verdict}")
    outcome.head["changes"] = len(wrong)


def _super_user_notes(seen: "Observation") -> list[str]:
    from kafka_shim.pipeline.jobs.least_acls import likely_super_users

    known = seen.head["super_users"]
    return [
        f"{user} changed ACLs and was never denied; if it is a super user, say --super-user {user}"
        for user in likely_super_users(seen.accesses)
        if user not in known
    ]


def _prefix_notes(acls: list[Acl]) -> list[str]:
    """Return notes that propose prefixes for names that differ in each run."""
    from kafka_shim.pipeline.acls.generalise import made_up

    found = [
        f"{count} names of {kind.name} look made up for one run, `{prefix}...`;"
        f" --over-grant 0 makes them the prefix `{prefix}`"
        for (kind, prefix), count in made_up(acls).items()
    ]
    more = len(found) - NOTED
    return found[:NOTED] + ([f"and {more} more such prefixes"] if more > 0 else [])


def _written(acls: list[Acl], form: str) -> str:
    try:
        return write(acls, form)
    except AclTextError as error:
        raise PipelineError(f"--to {form}: {error}") from error


def _difference(present: list[Acl], wanted: list[Acl]) -> list[str]:
    removed = [acl for acl in present if acl not in set(wanted)]
    added = [acl for acl in wanted if acl not in set(present)]
    return [
        f"{len(added)} to add and {len(removed)} to remove",
        *("  " + command("--add", acl) for acl in added),
        *("  " + command("--remove --force", acl) for acl in removed),
    ]


def _charts(outcome: Outcome) -> list[Chart]:
    return [bars("ACLs needed, by principal", "ACLs", acls_by_principal(outcome.rows))]


COMMAND = Command(
    "find the smallest ACL set that allows everything in the trace",
    _add_options,
    _run,
    _charts,
    _check,
)
