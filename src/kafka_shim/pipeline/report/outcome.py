"""The result of a job: its rows, notes and totals."""

import argparse
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_shim.pipeline.engines.duckdb_engine import DuckDbEngine
from kafka_shim.text.message_text import count_with_noun

if TYPE_CHECKING:
    from kafka_shim.pipeline.observation import Observation
    from kafka_shim.pipeline.trace_input import TraceInput


PRINCIPALS_NOTED = 3
"""Principals in a note; JSON has all."""


class Outcome(msgspec.Struct):
    """The result of a job.

    `printed_columns` are those of the printed table; `text`, if set, is printed instead. `trend`
    has counts over time for a chart, `interval` apart. `has_failing_findings`: with `--fail-on`,
    there were findings. `failed_own_check`: the result does not do what it promises. `parts`:
    the outcomes in a report.
    """

    job: str
    columns: list[str]
    printed_columns: list[str]
    rows: list[dict[str, Any]]
    totals: dict[str, Any]
    notes: list[str]
    text: str | None = None
    trend: list[dict[str, Any]] = []
    interval: str = ""
    has_failing_findings: bool = False
    failed_own_check: bool = False
    parts: list["Outcome"] = []


def observation_note(totals: dict[str, Any]) -> str:
    """Return the first line with the observed period, on which
    findings about unused ACLs depend.
    """
    text = f"{count_with_noun(totals['accesses'], 'access')}, {totals['distinct']} different"
    text += f", of {count_with_noun(totals['observed_principals'], 'principal')}"
    if totals["requests"]:  # a log of decisions has none
        text += f" in {count_with_noun(totals['requests'], 'request')}"
        text += f" on {count_with_noun(totals['brokers'], 'broker')}"
    if totals["accesses"]:
        text += f", {totals['first_seen']} to {totals['last_seen']}"
    if totals["super_users"]:
        text += f"; super users: {', '.join(totals['super_users'])}"
    return text


def requests_note(totals: dict[str, Any]) -> str:
    """Return what a job about requests looked at: their number, principals, brokers and period."""
    names = ("request", "principal", "broker")
    text, *of = (count_with_noun(totals[f"{name}s"], name) for name in names)
    text += f" of {of[0]} on {of[1]}"
    return (
        f"{text}, {totals['first_seen']} to {totals['last_seen']}" if totals["requests"] else text
    )


def left_out_notes(totals: dict[str, Any]) -> list[str]:
    """Return a note for each reason to leave accesses out: how many, whose and why."""
    notes = [
        f"left out: {_accesses_of_top_principals_text(total)}: {total['reason']}"
        for total in totals["left_out"]
    ]
    notes += [
        f"judged, although the log does not show their requests:"
        f" {_accesses_of_top_principals_text(total)}; a denial may only have left a name out of a"
        " list"
        for total in totals["unattributed"]
    ]
    if totals["log_has_denials_only"]:
        notes.append(
            "the log has denials only, so what is allowed, and the ACLs in use, are not known;"
            " Kafka logs it at DEBUG"
        )
    if not totals["considered"]:
        notes.append("no access was judged: the findings below say nothing about the ACLs")
    return notes


def _accesses_of_top_principals_text(total: dict[str, Any]) -> str:
    """Return how many accesses, of whom: the principals with the most, and the number of others."""
    names = sorted(total["principals"], key=lambda name: (-total["principals"][name], name))
    more = len(names) - PRINCIPALS_NOTED
    text = (
        f"{count_with_noun(total['accesses'], 'access')} of {', '.join(names[:PRINCIPALS_NOTED])}"
    )
    return f"{text} and {more} more" if more > 0 else text


def damage_notes(totals: dict[str, Any]) -> list[str]:
    """Return notes about parts of the trace that are absent or could not be read."""
    notes = []
    if totals["damaged_blocks"]:
        size = f"{totals['damaged_blocks']} damaged places ({totals['damaged_bytes']} bytes)"
        notes.append(f"{size} left out; `kafka-shim pipeline damage` lists them")
    if earlier := totals.get("segments_before_first"):
        notes.append(f"{count_with_noun(earlier, 'earlier segment')} of the trace not given")
    return notes


def access_outcome(
    args: argparse.Namespace,
    observation: "Observation",
    relation: str,
    printed_columns: tuple[str, ...],
) -> Outcome:
    """Return the outcome of a job about accesses: its rows, and the
    observed accesses and period.
    """
    outcome = _collect_outcome(args, observation.engine, relation, printed_columns)
    outcome.totals = dict(observation.totals_and_settings)
    outcome.notes = [
        observation_note(observation.totals_and_settings),
        *damage_notes(observation.totals_and_settings),
        *left_out_notes(observation.totals_and_settings),
        *outcome.notes,
    ]
    return outcome


def table_outcome(
    args: argparse.Namespace,
    trace_input: "TraceInput",
    relation: str,
    printed_columns: tuple[str, ...],
    compared: "TraceInput | None" = None,
) -> Outcome:
    """Return the outcome of a job about clients, times or damage: what it looked at, also in the
    trace that is compared, its rows and their number.
    """
    engine = trace_input.engine
    with engine.cached(relation) as cached:
        outcome = _collect_outcome(args, engine, cached, printed_columns)
        found = engine.count_rows(cached)
    outcome.totals = trace_input.damage_totals()
    looked_at = [requests_note(trace_input.request_totals())]
    if compared is not None:
        looked_at.append(f"compared with {requests_note(compared.request_totals())}")
    outcome.notes = [
        *looked_at,
        count_with_noun(found, "row"),
        *damage_notes(outcome.totals),
        *outcome.notes,
    ]
    outcome.has_failing_findings = bool(getattr(args, "fail_on", None) and found)
    return outcome


def _collect_outcome(
    args: argparse.Namespace,
    engine: DuckDbEngine,
    relation: str,
    printed_columns: tuple[str, ...],
) -> Outcome:
    """Collect the rows; with an output folder, write them there and return only their number."""
    outcome = Outcome(args.job, engine.columns(relation), list(printed_columns), [], {}, [])
    if folder := args.parquet:
        engine.write_parquet(relation, folder)
        outcome.notes.append(
            f"{count_with_noun(engine.count_rows(relation), 'row')} written to {folder}"
        )
    else:
        outcome.rows = engine.rows(relation)
    return outcome
