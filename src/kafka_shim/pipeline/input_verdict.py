"""What is missing in the input of a job, before anybody acts on its result."""

import argparse
from datetime import datetime
from pathlib import Path
from typing import Any

from kafka_shim.pipeline.intervals import parse_interval_seconds
from kafka_shim.pipeline.rows.access_roles import LEFT_OUT, UNIDENTIFIED
from kafka_shim.text.message_text import count_with_noun
from kafka_shim.trace_format.segments import (
    count_segments_before_first,
    find_missing_segments,
    is_closed_segment,
    segment_paths,
)

MIN_PERIOD = "7 days"
NOTHING_JUDGED = "no access was judged"


def add_accept_incomplete_option(job: argparse.ArgumentParser) -> None:
    """Add --accept-incomplete, for jobs whose result somebody acts on."""
    job.add_argument(
        "--accept-incomplete",
        action="store_true",
        help="Take the result of an input that is damaged or cut off, has denials only, or does not"
        " show all principals, as that of a complete one",
    )


def add_min_period_option(job: argparse.ArgumentParser) -> None:
    """Add --min-period and --accept-incomplete, for jobs that propose to remove ACLs."""
    add_accept_incomplete_option(job)
    job.add_argument(
        "--min-period",
        default=MIN_PERIOD,
        metavar="TIME",
        help=f"Shortest observation that removals may follow from (default: {MIN_PERIOD})",
    )


def count_segment_problems(paths: list[str]) -> dict[str, int]:
    """Count the segments of traces that are not closed, and those that are missing."""
    segments = dict.fromkeys(each for path in paths for each in segment_paths(Path(path)))
    return {
        "unclosed_segments": sum(not is_closed_segment(path) for path in segments),
        "missing_segments": len(find_missing_segments(segments)),
        "segments_before_first": count_segments_before_first(segments),
    }


def input_problems(totals: dict[str, Any], min_period: str | None = None) -> list[str]:
    """Return what the input lacks, a line each; `totals` are those of an observation.

    `min_period` is the shortest time that the accesses have to cover.
    """
    unknown = sum(
        each["accesses"] for each in totals["left_out"] if each["reason"] == LEFT_OUT[UNIDENTIFIED]
    )
    damaged, unclosed, missing = (
        totals[name] for name in ("damaged_blocks", "unclosed_segments", "missing_segments")
    )
    texts = {
        f"{count_with_noun(damaged, 'damaged place')} cannot be read": damaged,
        f"{count_with_noun(unclosed, 'segment')} without an index at the end, so the recording"
        " still runs or was cut off": unclosed,
        f"{count_with_noun(missing, 'segment')} missing between others": missing,
        "the log has denials only": totals["log_has_denials_only"],
        f"the principal of {count_with_noun(unknown, 'access')} is unknown": unknown,
        NOTHING_JUDGED: not totals["considered"],
    }
    problems = [text for text, is_present in texts.items() if is_present]
    if min_period is not None and totals["first_seen"]:
        first, last = (datetime.fromisoformat(totals[name]) for name in ("first_seen", "last_seen"))
        if (last - first).total_seconds() < parse_interval_seconds(min_period):
            problems.append(f"the accesses cover {last - first}, less than {min_period}")
    return problems


def unaccepted_problems(args: argparse.Namespace, totals: dict[str, Any]) -> list[str]:
    """Return the problems for which a job gives no commands and no good news."""
    if getattr(args, "accept_incomplete", False):
        return []
    return input_problems(totals, getattr(args, "min_period", None))


def incomplete_input_notes(problems: list[str], withheld: str) -> list[str]:
    """Return a note for each problem, and one about what is withheld because of them."""
    if not problems:
        return []
    return [
        *(f"incomplete input: {problem}" for problem in problems),
        f"{withheld}, since the input is incomplete; --accept-incomplete takes it as complete",
    ]
