"""Known failures of a client: a TOML file that makes a run fail only for what changed.

Each entry is one `[[known-failure]]`:

    [[known-failure]]
    cases = ["denials.describe-acls.*"]
    reason = "the client drops the error of DescribeAcls, see its issue 12"
"""

from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.conformance.case import CaseOutcome
from kafka_shim.conformance.report import Report, ResultRow
from kafka_shim.policy.formats.toml_documents import load_toml
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.shim.errors import ConfigError
from kafka_shim.text.input_files import read_text_file

OPTION = "--baseline"


class KnownFailure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Cases that the client is known to fail.

    `releases` restricts the entry to these Kafka releases (empty: all). A case that is
    `intermittent` fails in some runs only, so it does not count as healed when it passes.
    """

    cases: tuple[str, ...]
    reason: str
    releases: tuple[str, ...] = ()
    intermittent: bool = False

    def includes(self, case_id: str, release: str) -> bool:
        return (not self.releases or release in self.releases) and any(
            fnmatchcase(case_id, pattern) for pattern in self.cases
        )


class Baseline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a baseline file."""

    entries: tuple[KnownFailure, ...] = msgspec.field(name="known-failure", default=())

    def find_known_failure(self, case_id: str, release: str) -> KnownFailure | None:
        return next((each for each in self.entries if each.includes(case_id, release)), None)

    def mark_known_failures(self, report: Report) -> Report:
        """Return the report with the reasons of known failures, also at cases that passed."""
        rows = tuple(self._mark_known_failure(row) for row in report.results)
        return msgspec.structs.replace(report, results=rows)

    def _mark_known_failure(self, row: ResultRow) -> ResultRow:
        entry = self.find_known_failure(row.id, row.kafka_version)
        if entry is None or (entry.intermittent and row.outcome is CaseOutcome.PASSED):
            return row
        return msgspec.structs.replace(row, known_failure=entry.reason)


def read_baseline(path: str, case_ids: Sequence[str]) -> Baseline:
    """Read a baseline file. Raise ConfigError if an entry is invalid or matches none of the ids."""
    text = read_text_file(path, OPTION)
    try:
        baseline = msgspec.convert(load_toml(text), Baseline)
    except (AclTextError, msgspec.ValidationError) as error:
        raise ConfigError(f"{OPTION} {path}: {error}") from error
    for number, entry in enumerate(baseline.entries, start=1):
        for problem in _problems_of_entry(entry, case_ids):
            raise ConfigError(f"{OPTION} {path}: known-failure {number}: {problem}")
    return baseline


def _problems_of_entry(entry: KnownFailure, case_ids: Sequence[str]) -> Iterator[str]:
    if not entry.reason.strip():
        yield f"reason is empty; say why the client fails {', '.join(entry.cases)}"
    if not entry.cases:
        yield "cases is empty; name a case or a pattern such as `denials.*`"
    for pattern in entry.cases:
        if not any(fnmatchcase(case_id, pattern) for case_id in case_ids):
            yield f"no case matches `{pattern}`; --list prints all cases"
    for release in entry.releases:
        if release not in RELEASES:
            yield f"unknown release `{release}`; expected one of {', '.join(RELEASES)}"


def format_baseline(reports: Iterable[Report]) -> str:
    """Return a baseline with an entry for each failed `must` case, whose reasons are empty."""
    lines = ["# Known failures: fill in each reason, and merge entries with the same cause."]
    for report in reports:
        failed = [row for row in report.results if row.fails_run]
        for case_id in dict.fromkeys(row.id for row in failed):
            rows = [row for row in failed if row.id == case_id]
            lines += ["", "[[known-failure]]", f"cases = {_toml_array([case_id])}"]
            if len(rows) < len(report.releases):
                lines.append(f"releases = {_toml_array([row.kafka_version for row in rows])}")
            lines += [f"# expected: {_on_one_line(rows[-1].expected)}"]
            lines += [f"# but: {_on_one_line(rows[-1].observed)}", 'reason = ""']
    return "\n".join(lines) + "\n"


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _toml_array(names: Sequence[str]) -> str:
    """Return names as a TOML array, whose strings are written as in JSON."""
    return msgspec.json.format(msgspec.json.encode(names), indent=0).decode()
