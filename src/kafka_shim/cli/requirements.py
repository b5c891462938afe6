"""`kafka-shim requirements`: which permissions each API needs, and the error of a denial."""

import argparse
import json
from typing import Any, NamedTuple

from kafka_shim.authorizer.acl_names import AclTextError, parse_operation, parse_resource_type
from kafka_shim.authorizer.explaining import requirements_text as text
from kafka_shim.authorizer.requirement import (
    NEWEST,
    OPEN_TO_ALL,
    Denial,
    NeedAlternative,
    Requirement,
    VersionRange,
    bind_to_release,
)
from kafka_shim.authorizer.requirements import TABLE, requirements_of_served_versions
from kafka_shim.cli.usage import (
    UsageError,
    parse_api_name,
    release_argument,
    run_reporting_errors,
)
from kafka_shim.protocol.api_versions import RELEASES, served_versions
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType

DESCRIPTION = """\
List the permission checks of each API, with the error of a denial. To see what an upgrade changes,
compare the lists of two releases, here 2.8 and 4.0:

  kafka-shim requirements --kafka-version 2.8 > 2.8.txt
  kafka-shim requirements --kafka-version 4.0 > 4.0.txt
  diff -w 2.8.txt 4.0.txt
"""


class RequirementFilter(NamedTuple):
    """Which rows to print; None: all."""

    api: ApiKey | None
    operation: Operation | None
    resource: ResourceType | None
    release: str | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.add_argument("--api", metavar="NAME", help="Only this API, by name or key: Fetch, 1")
    parser.add_argument(
        "--operation", metavar="NAME", help="Only rows with this operation: READ, ALTER, ..."
    )
    parser.add_argument(
        "--resource-type",
        metavar="TYPE",
        help="Only rows with this resource type: TOPIC, GROUP, ...",
    )
    parser.add_argument(
        "--kafka-version",
        type=release_argument,
        metavar="RELEASE",
        help="Print one line for each check of this Kafka release: the permission and the error"
        " (default: all releases, in detail)",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="Print JSON")
    form.add_argument("--markdown", action="store_true", help="Print a Markdown page")


def run(args: argparse.Namespace) -> int:
    return run_reporting_errors(args, _print_requirements)


def _print_requirements(args: argparse.Namespace) -> int:
    choice = _filter_of_options(args)
    rows, free = (
        _requirements_matching(choice),
        _matching_open_apis(choice),
    )
    if args.json:
        print(json.dumps(_requirements_object(choice, rows, free), indent=2))
    elif args.markdown:
        print("\n".join(text.markdown_lines(rows, free)))
    elif not rows and not free:
        print(_no_matching_requirement_text(choice))
    elif choice.release:
        print("\n".join(text.one_release_lines(rows, free, choice.release)))
    else:
        print("\n".join(text.detailed_lines(rows, free)))
    return 0


def _filter_of_options(args: argparse.Namespace) -> RequirementFilter:
    api, operation, resource = args.api, args.operation, args.resource_type
    try:
        return RequirementFilter(
            None if api is None else parse_api_name(api),
            None if operation is None else parse_operation(operation),
            None if resource is None else parse_resource_type(resource),
            args.kafka_version,
        )
    except AclTextError as error:
        raise UsageError(str(error)) from error


def _requirements_matching(choice: RequirementFilter) -> list[Requirement]:
    table = (
        TABLE
        if choice.release is None
        else [b.requirement for b in requirements_of_served_versions(choice.release)]
    )
    return [row for row in table if choice.api in (None, row.api) and _matches(row, choice)]


def _matches(row: Requirement, choice: RequirementFilter) -> bool:
    return any(
        choice.operation in (None, need.operation) and choice.resource in (None, need.resource_type)
        for need in _needs_in_release(row, choice.release)
    )


def _needs_in_release(row: Requirement, release: str | None) -> tuple[NeedAlternative, ...]:
    return row.any_of if release is None else bind_to_release(row, release).needs


def _matching_open_apis(choice: RequirementFilter) -> dict[ApiKey, str]:
    """Return the APIs without authorization checks; none if an operation or resource is chosen."""
    if choice.operation or choice.resource:
        return {}
    offered = ApiKey if choice.release is None else served_versions(choice.release)
    return {
        key: reason
        for key, reason in OPEN_TO_ALL.items()
        if choice.api in (None, key) and key in offered
    }


def _no_matching_requirement_text(choice: RequirementFilter) -> str:
    where = f"Kafka {choice.release}" if choice.release else "any release"
    if choice.api and not any(
        choice.api in served_versions(r) for r in _releases_to_search(choice.release)
    ):
        return f"no client-facing listener of {where} serves {choice.api.wire_name}"
    return f"no requirement of {where} matches"


def _releases_to_search(release: str | None) -> tuple[str, ...]:
    return RELEASES if release is None else (release,)


def _requirements_object(
    choice: RequirementFilter, rows: list[Requirement], open_apis: dict[ApiKey, str]
) -> dict[str, Any]:
    return {
        "release": choice.release,
        "requirements": [_requirement_object(row, choice.release) for row in rows],
        "open_to_all": {key.wire_name: reason for key, reason in open_apis.items()},
    }


def _requirement_object(row: Requirement, release: str | None) -> dict[str, Any]:
    bound = None if release is None else bind_to_release(row, release)
    hidden = row.hidden if bound is None or bound.hidden_as else None
    return {
        "id": row.id,
        "api": row.api.wire_name,
        "api_key": row.api,
        "releases": list(text.effective_releases(row)),
        "versions": _version_bounds(row.versions),
        "any_of": [_need_object(need) for need in (bound.needs if bound else row.any_of)],
        "names": row.names,
        "when": row.when or None,
        "denied": [_denial_object(denial) for denial in (bound.denials if bound else row.denied)],
        "hidden": hidden
        and {
            "error": hidden.error.name,
            "until": hidden.until,
            "first": hidden.before_operation_check,
        },
        "kip": row.kip,
        "source": row.source,
        "note": row.note or None,
    }


def _need_object(need: NeedAlternative) -> dict[str, Any]:
    return {
        "operation": need.operation.name,
        "resource_type": need.resource_type.name,
        "any_name": need.any_name,
        "names": need.source_of_names or None,
        "since": need.since,
        "until": need.until,
        "log_if_denied": need.log_if_denied,
    }


def _denial_object(denial: Denial) -> dict[str, Any]:
    return {
        "error": denial.error.name,
        "error_code": denial.error,
        "effect": denial.effect.name,
        "versions": _version_bounds(denial.versions),
        "since": denial.since,
        "until": denial.until,
    }


def _version_bounds(versions: VersionRange) -> tuple[int, int | None]:
    return versions[0], None if versions[1] == NEWEST else versions[1]
