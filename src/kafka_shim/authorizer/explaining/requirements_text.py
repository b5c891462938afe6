"""Rows of the requirements table as text: in full, in short for one release, as Markdown."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any

from kafka_shim.authorizer.requirement import (
    NEWEST,
    Denial,
    NeedAlternative,
    Requirement,
    VersionRange,
    bind_to_release,
    is_in_release,
)
from kafka_shim.authorizer.requirements import requirements_of_served_versions
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.enums import ApiKey


def _need_text(need: NeedAlternative) -> str:
    link = " on any " if need.any_name else " "
    return f"{need.operation.name}{link}{need.resource_type.name}"


def _releases_by_text(
    items: Iterable[Any], text: Callable[[Any], str], all_releases: tuple[str, ...]
) -> dict[str, str]:
    """Return the releases of each text; "" means all of them."""
    releases_by_text: dict[str, set[str]] = {}
    for item in items:
        releases_by_text.setdefault(text(item), set()).update(
            r for r in all_releases if is_in_release(item, r)
        )
    return {
        line: _release_subset_text(held, all_releases)
        for line, held in releases_by_text.items()
        if held
    }


def _release_subset_text(subset: set[str], releases: tuple[str, ...]) -> str:
    """Return a subset of releases as text: `up to 0.11`, `2.4-2.8 and since 3.3`; "" for all."""
    if subset == set(releases):
        return ""
    runs: list[list[int]] = []
    for at, release in enumerate(releases):
        if release in subset:
            if runs and runs[-1][1] == at - 1:
                runs[-1][1] = at
            else:
                runs.append([at, at])
    return " and ".join(_release_range_text(releases, first, last) for first, last in runs)


def _release_range_text(releases: tuple[str, ...], first: int, last: int) -> str:
    if last == len(releases) - 1:
        return f"since {releases[first]}"
    if first == 0:
        return f"up to {releases[last]}"
    return releases[first] if first == last else f"{releases[first]}-{releases[last]}"


def effective_releases(row: Requirement) -> tuple[str, ...]:
    """Return the releases in which clients can trigger the row's check; if none, all of its own."""
    met = tuple(
        r
        for r in RELEASES
        if any(bound.requirement is row for bound in requirements_of_served_versions(r))
    )
    return met or tuple(r for r in RELEASES if bind_to_release(row, r).needs)


def _release_ranges_text(releases: tuple[str, ...]) -> str:
    """Return releases as text, in ranges: `1.1-2.8, 3.6-4.3`."""
    at = [RELEASES.index(release) for release in releases]
    starts = [i for i in at if i - 1 not in at]
    ends = [i for i in at if i + 1 not in at]
    return ", ".join(
        RELEASES[a] if a == b else f"{RELEASES[a]}-{RELEASES[b]}"
        for a, b in zip(starts, ends, strict=True)
    )


def _versions_text(
    versions: VersionRange, single: str = "version ", several: str = "versions "
) -> str:
    low, high = versions
    if versions == (0, NEWEST):
        return ""
    if high == NEWEST:
        return f"{several}{low}+"
    return f"{single}{low}" if low == high else f"{several}{low}-{high}"


def _denial_text(denial: Denial) -> str:
    error = denial.error_in_response
    code = f"{error.name} ({error:d}), " if error else ""
    return _join_nonempty(", ", f"{code}{denial.effect.value}", _versions_text(denial.versions))


def _join_nonempty(separator: str, *parts: str) -> str:
    return separator.join(part for part in parts if part)


def detailed_lines(rows: list[Requirement], open_apis: dict[ApiKey, str]) -> Iterator[str]:
    """Yield all facts about each row, with its changes between releases."""
    for row in rows:
        kip = f"KIP-{row.kip}" if row.kip else ""
        releases_of_row = effective_releases(row)
        yield _join_nonempty(
            "  ",
            row.id,
            _release_ranges_text(releases_of_row),
            _versions_text(row.versions),
            kip,
            row.source,
        )
        yield from (f"    {line}" for line in _requirement_detail_lines(row, releases_of_row))
        yield ""
    yield from (
        f"{key.wire_name}  needs no permission: {reason}" for key, reason in open_apis.items()
    )


def _requirement_detail_lines(row: Requirement, releases_of_row: tuple[str, ...]) -> Iterator[str]:
    for line, releases in _releases_by_text(row.any_of, _need_text, releases_of_row).items():
        yield _join_nonempty(", ", line, releases)
    quiet = [need for need in row.any_of if not need.log_if_denied]
    for line, releases in _releases_by_text(quiet, _need_text, releases_of_row).items():
        yield _join_nonempty(", ", f"unlogged if denied: {line}", releases)
    yield f"on {', '.join(row.names)}"
    for need in row.any_of:
        if need.source_of_names:
            yield f"on {', '.join(need.source_of_names)} for {_need_text(need)}"
    if row.when:
        yield f"when {row.when}"
    for line, releases in _releases_by_text(row.denied, _denial_text, releases_of_row).items():
        yield _join_nonempty(", ", f"denied: {line}", releases)
    if row.hidden:
        code = f"{row.hidden.error.name} ({row.hidden.error:d})"
        check_order = (
            "checked first" if row.hidden.before_operation_check else "checked after the denial"
        )
        yield f"hidden before {row.hidden.until}: {code} without DESCRIBE, which is {check_order}"
    if row.note:
        yield f"note: {row.note}"


def one_release_lines(
    rows: list[Requirement], open_apis: dict[ApiKey, str], release: str
) -> Iterator[str]:
    """Yield one line per row: what one release requires, and where a denial shows."""
    lines = [_one_release_columns(row, release) for row in rows]
    lines += [(key.wire_name, "-", f"needs no permission: {why}") for key, why in open_apis.items()]
    widths = [max((len(line[column]) for line in lines), default=0) for column in range(2)]
    for name, needs, rest in lines:
        yield f"{name:{widths[0]}}  {needs:{widths[1]}}  {rest}"


def _one_release_columns(row: Requirement, release: str) -> tuple[str, str, str]:
    bound = bind_to_release(row, release)
    needs = " or ".join(dict.fromkeys(_need_text(need) for need in bound.needs))
    effects: dict[str, list[str]] = {}
    for denial in bound.denials:
        effects.setdefault(denial.effect.value, []).append(_versions_text(denial.versions))
    shown = [
        f"{effect} ({', '.join(limits)})" if any(limits) else effect
        for effect, limits in effects.items()
    ]
    code = f"{bound.error.name} ({bound.error:d})" if bound.error else ""
    versions = _versions_text(row.versions, "in version ", "in versions ")
    condition = _join_nonempty(", ", versions, f"when {row.when}" if row.when else "")
    return row.id, needs, _join_nonempty("; ", ", ".join(filter(None, [code, *shown])), condition)


_INTRODUCTION = """# Permissions by API

The permission checks that a Kafka broker makes for each request, by release, and what a client
gets if a check fails. [ACLs of known programs](atlas/README.md) lists all permissions of producers,
transactional producers and consumers.

The broker makes the checks of an API in the order of the table. `kafka-shim requirements` prints
the checks of one API (`--api Fetch`), of one release (`--kafka-version 3.9`) or on one type of
resource (`--resource-type GROUP`). With `--markdown`, it prints this page, and with `--json`, JSON
([all options](commands/requirements.md)).

The columns of the tables:

* *Needs*: the required operation and resource type. If a cell has several lines, one of
  these permissions is enough. *WRITE on any TOPIC* needs WRITE on at least one topic.
* *Names*: the field of the request that names the resource. If a field begins with `response.`, the
  request names no resource, and the broker checks each name that it would return. The cluster is
  always `kafka-cluster`.
* *Denied*: the error that the client gets, and the place of the error.
* *Releases*: the Kafka releases that make this check. If the check is only for some versions of the
  request, *versions* lists them.
* *When, and notes*: the condition of the check (*when ...*), if there is one, and other effects.

The column *Denied* names the place of the error:

* *the response's code*: the whole request fails.
* *each element's code*: the topics, groups or other elements that need the permission fail.
* *a separate field*: the request succeeds. The notes name the field that shows the denial.
* *left out*: the request succeeds. The response does not list denied names.
* *an empty response without an error*: the request seems to succeed, and the response lists
  nothing.

An ALLOW of READ, WRITE, DELETE or ALTER includes DESCRIBE. An ALLOW of ALTER_CONFIGS includes
DESCRIBE_CONFIGS. ALL stands for every operation. A DENY includes no other operation: a DENY of
READ does not deny DESCRIBE. Super users pass all checks. If no ACL of a resource exists, all other
users are denied, unless `allow.everyone.if.no.acl.found` is true. Without an authorizer, a broker
makes no checks.

[Test vectors](../../vectors/README.md) compare the checks with real brokers. To see which checks
failed for your client, and the missing ACL, read [Why was it denied?](../start/denials.md)

The tables describe brokers on ZooKeeper up to 2.8, and brokers on KRaft since 3.0. Brokers on
ZooKeeper exist up to 3.9: notes say if a check is different there, or exists only there.
"""


def markdown_lines(rows: list[Requirement], open_apis: dict[ApiKey, str]) -> Iterator[str]:
    """Yield the lines of a page with a heading and a table for each API."""
    yield _INTRODUCTION
    for api, rows_of_api in groupby(rows, key=lambda row: row.api):
        yield f"## {api.wire_name}\n"
        yield "| Requirement | Needs | Names | Denied | Releases | When, and notes |"
        yield "|---|---|---|---|---|---|"
        for row in rows_of_api:
            yield f"| {' | '.join(markdown_cells(row))} |"
        yield ""
    if open_apis:
        yield "## APIs that can be used without a permission\n"
        yield from (f"* **{key.wire_name}**: {reason}" for key, reason in open_apis.items())


def markdown_cells(row: Requirement) -> Iterator[str]:
    """Yield the columns of `markdown_lines`."""
    releases_of_row = effective_releases(row)
    yield f"**{row.id}**" + (f" (KIP-{row.kip})" if row.kip else "")
    yield "<br>".join(
        _join_nonempty(", ", line, releases)
        for line, releases in _releases_by_text(row.any_of, _need_text, releases_of_row).items()
    )
    own = (name for need in row.any_of for name in need.source_of_names)
    yield "<br>".join(f"`{name}`" for name in (*row.names, *own))
    denied = _releases_by_text(row.denied, _denial_text, releases_of_row).items()
    hidden = (
        f"before {row.hidden.until} {row.hidden.error.name} ({row.hidden.error:d}) without DESCRIBE"
        if row.hidden
        else ""
    )
    yield _join_nonempty(
        "<br>", *(_join_nonempty(", ", line, releases) for line, releases in denied), hidden
    )
    yield _join_nonempty(
        "<br>", _release_ranges_text(releases_of_row), _versions_text(row.versions)
    )
    yield _join_nonempty("<br>", f"when {row.when}" if row.when else "", row.note)
