"""Prints the results of a comparison as text or JSON."""

import sys
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from tests.oracle.comparing import Difference, Tally, paths
from tests.recordings.conformance.scenario import Scenario

SHOWN_PER_API: Final = 3
LINES_PER_DIFFERENCE: Final = 6


def progress(text: str) -> None:
    """Print a line of progress to stderr, apart from the result."""
    sys.stderr.write(f"{text}\n")


def result(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def as_text(tally: Tally) -> str:
    lines = list(difference_lines(tally.differences))
    lines += ["", f"{'api':32} equal of"]
    for api in sorted(tally.total):
        mark = "" if tally.equal[api] == tally.total[api] else "  <- differs"
        lines.append(f"{api:32} {tally.equal[api]:5} {tally.total[api]:5}{mark}")
    lines.append(f"{'all':32} {tally.equal.total():5} {tally.total.total():5}")
    return "\n".join(lines)


def as_json(tally: Tally) -> str:
    rows = {api: [tally.equal[api], tally.total[api]] for api in sorted(tally.total)}
    found = {"equal_of_total": rows, "differences": tally.differences}
    return msgspec.json.format(msgspec.json.encode(found), indent=1).decode()


def difference_lines(differences: Iterable[Difference]) -> Iterable[str]:
    """Yield the first differences of each API, with the requests."""
    shown: dict[str, int] = {}
    for difference in differences:
        shown[difference.step.api] = shown.get(difference.step.api, 0) + 1
        if shown[difference.step.api] > SHOWN_PER_API:
            continue
        step = difference.step
        place = f"seed {difference.seed}, step {difference.number}"
        yield f"{place}: {step.user} {step.api} v{step.version}"
        yield f"  {_line(step.request):.600}"
        for line in list(paths(difference.wanted, difference.got))[:LINES_PER_DIFFERENCE]:
            yield f"    {line}"


def shrunk_text(scenario: Scenario, wanted: list[Any], got: list[Any]) -> str:
    """Return a shortened scenario as text, to read it or to keep it as a regression test."""
    lines = ["shortest that still differs:"]
    lines += [f"  acl  {_line(acl)}" for acl in scenario.acls]
    for step, first, second in zip(scenario.steps, wanted, got, strict=True):
        name = f"{step.label}: " if step.label else ""
        takes = f"  takes {step.takes}" if step.takes else ""
        lines.append(f"  {name}{step.user} {step.api} v{step.version} {_line(step.request)}{takes}")
        lines += [f"    {line}" for line in paths(first, second)]
    return "\n".join(lines)


def _line(value: Any) -> str:
    return msgspec.json.encode(value).decode()
