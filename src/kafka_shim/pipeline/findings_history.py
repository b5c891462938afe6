"""The file that keeps findings between runs: which were open, and the last use of each ACL."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from kafka_shim.pipeline.errors import PipelineError

NEW, OPEN, RESOLVED = "new", "open", "resolved"


class Finding(msgspec.Struct, frozen=True):
    """A finding about an ACL or an access, which `subject` identifies among those of its kind.

    `last_seen` is the last use of the ACL, or the last denial. `found_at` is the end of the
    observation that first had the finding. Times are ISO texts in UTC.
    """

    kind: str
    subject: str
    last_seen: str | None = None
    detail: str = ""
    found_at: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.kind, self.subject


class FindingsHistory(msgspec.Struct):
    """The open findings after a run, and when each ACL was last used and needed, in any run.

    The last observation that needed an ACL is known by its end. `apis` and `principals` are the
    selected ones, empty for all.
    """

    apis: list[str] = []
    principals: list[str] = []
    observed_until: str | None = None
    findings: list[Finding] = []
    last_use_by_acl: dict[str, str] = {}
    last_need_by_acl: dict[str, str] = {}


def merge_latest_times(earlier: dict[str, str], current: dict[str, str]) -> dict[str, str]:
    """Return the later time of each ACL."""
    return earlier | {acl: max(time, earlier.get(acl, time)) for acl, time in current.items()}


def read_findings_history(path: Path) -> FindingsHistory:
    """Return the history in a file, empty without the file.

    Raise PipelineError if the file is unreadable.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=FindingsHistory)
    except FileNotFoundError:
        return FindingsHistory()
    except (OSError, msgspec.MsgspecError) as error:
        raise PipelineError(f"{path}: not a history of findings: {error}") from error


def write_findings_history(path: Path, history: FindingsHistory) -> None:
    """Replace the file as a whole, so that an interrupted run leaves the earlier history."""
    written = path.with_name(f"{path.name}.new")
    try:
        written.write_bytes(msgspec.json.format(msgspec.json.encode(history)))
        written.replace(path)
    except OSError as error:
        raise PipelineError(f"{path}: {error.strerror or error}") from error


def classify_findings(
    history: FindingsHistory, current: Iterable[Finding], observed_until: str | None
) -> list[tuple[str, Finding]]:
    """Return the current findings as new or open, then the earlier ones that are resolved."""
    earlier = {finding.key: finding for finding in history.findings}
    rows = []
    for finding in current:
        before = earlier.pop(finding.key, None)
        status, since = (NEW, observed_until) if before is None else (OPEN, before.found_at)
        rows.append((status, msgspec.structs.replace(finding, found_at=since)))
    rows.sort(key=lambda row: (row[0] != NEW, row[1].key))
    return rows + [(RESOLVED, finding) for finding in earlier.values()]


def status_row(status: str, finding: Finding) -> dict[str, Any]:
    """Return the row that the job prints."""
    return {"status": status, **msgspec.structs.asdict(finding)}
