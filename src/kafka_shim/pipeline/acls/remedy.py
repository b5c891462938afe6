"""Columns of remedies for denied accesses: ACLs to add and to remove.

If the ACLs are known, the steps are complete. Without them, the trace names at most one ACL per
denial, and the remedy says what else may be needed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import pyarrow as pa

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import WILDCARD, narrowest_allow_acl
from kafka_shim.authorizer.remedy import (
    UNKNOWN_AFTER_REMOVAL,
    Step,
    opening_of_unknown_setting,
    side_effects_of_steps,
    steps_to_allow,
)
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.acls.required_access import required_access_of_row
from kafka_shim.pipeline.engines.engine import BatchFunction
from kafka_shim.policy.formats.trace_rule import parse_acl_rule
from kafka_shim.policy.formats.yaml_rules import acl_line

CHECK = ("host", "api_key", "instead", "rule")
"""The fields of an element of `checks`: a different access that was denied."""
_ACCESS_AND_CHECKS = ["principal", "operation", "resource_type", "resource_name", "checks"]
REMEDY = [("remedy", pa.string()), ("also_opens", pa.string()), ("not_known", pa.string())]
NOT_NEEDED = "none: these ACLs allow it"
_DEFAULT_DENY = "DefaultDeny"
_WITHOUT_RULE = "whether a DENY applies"
_EMPTY_NAME = "an ACL cannot have an empty name; name the resource"
_NAMED_STAR = "an ACL on the name `*` allows all resources of the type; rename the resource"


class Remedy(msgspec.Struct, frozen=True):
    """Steps in their order, and what is not known about further needed steps."""

    steps: tuple[Step, ...]
    unknown_further_steps: str = ""
    also_opens: tuple[str, ...] = ()


def remedy_mapper(acl_set: AclSet | None, schema: pa.Schema) -> BatchFunction:
    """Return a function that replaces the column `checks` of findings by those of `REMEDY`.

    With ACLs, the remedies are complete. The findings have a principal, operation and resource.
    """
    authorizer = None if acl_set is None else acl_set.build_authorizer()

    def remedy(row: dict[str, Any]) -> Remedy:
        if not row["resource_name"]:
            return Remedy((), _EMPTY_NAME)
        if row["resource_name"] == WILDCARD and not _is_any_resource_check(row):
            return Remedy((), _NAMED_STAR)
        denied = [{**row, **check} for check in row.pop("checks")]
        if authorizer is None:
            return find_remedy_from_rules(denied)
        return find_remedy(authorizer, denied)

    def with_remedies(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            remedies = [remedy(row) for row in batch.select(_ACCESS_AND_CHECKS).to_pylist()]
            steps = (
                "; ".join(map(_step_text, each.steps))
                or ("" if each.unknown_further_steps else NOT_NEEDED)
                for each in remedies
            )
            not_known = (each.unknown_further_steps for each in remedies)
            arrays = [batch.column(name) for name in schema.names[: -len(REMEDY)]]
            opened = ("; ".join(each.also_opens) for each in remedies)
            arrays += [pa.array(texts, pa.string()) for texts in (steps, opened, not_known)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    return with_remedies


def _is_any_resource_check(row: dict[str, Any]) -> bool:
    """Return whether a denial with the name `*` is of a check of any resource (KIP-679)."""
    checks = ({**row, **check} for check in row["checks"])
    return any(
        check.any_name
        for each in checks
        for way in required_access_of_row(each).alternatives
        for check in way
    )


def find_remedy(authorizer: StandardAuthorizer, denied_rows: Iterable[Mapping[str, Any]]) -> Remedy:
    """Return the steps after which all ACLs together allow these rows; none if they already do.

    The rows have the same principal, operation and resource, and the columns of `DECISION_COLUMNS`.
    """
    accesses = list(map(required_access_of_row, denied_rows))
    steps = steps_to_allow(authorizer, accesses)
    opened = side_effects_of_steps(authorizer, steps, accesses)
    return Remedy(steps, also_opens=(*opened, *opening_of_unknown_setting(authorizer, steps)))


def find_remedy_from_rules(denied_rows: Sequence[dict[str, Any]]) -> Remedy:
    """Return the steps that follow from the rules in the trace; complete only for `DefaultDeny`."""
    rules = dict.fromkeys(row["rule"] for row in denied_rows)
    named = [acl for rule in rules if (acl := parse_acl_rule(rule)) is not None]
    steps: list[Step] = []
    without = next((row for row in denied_rows if parse_acl_rule(row["rule"]) is None), None)
    if without is not None:
        access = required_access_of_row(without)
        for check in next(way for way in access.alternatives if not way[0].any_name):
            acl = narrowest_allow_acl(check.action, access.actor.principal)
            steps.append(Step(is_addition=True, acl=acl))
    steps += (Step(is_addition=False, acl=acl) for acl in named)
    opened = side_effects_of_steps(
        StandardAuthorizer(), steps, map(required_access_of_row, denied_rows)
    )
    if named:
        return Remedy(tuple(steps), UNKNOWN_AFTER_REMOVAL, opened)
    unknown = "" if set(rules) == {_DEFAULT_DENY} else _WITHOUT_RULE
    return Remedy(tuple(steps), unknown, opened)


def _step_text(step: Step) -> str:
    return f"{step.verb} {acl_line(step.acl)}"
