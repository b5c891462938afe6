"""What would allow denied accesses: DENY ACLs to remove, and an ALLOW ACL to add if needed.

If the ACLs are known, the steps are complete, and are tried on the broker's authorizer. Without
them, the trace names at most one ACL per denial, and the remedy says what else may be needed.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import pyarrow as pa

from kafka_shim.authorizer.acl_formats.trace_rule import acl_rule, parse_acl_rule
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import WILDCARD, Acl
from kafka_shim.pipeline.acls.verdict import is_about_any, verdict
from kafka_shim.pipeline.rows.roles import access_parts
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType

QUESTIONS = ("principal", "operation", "resource_type", "resource_name", "asked")
"""The columns that a remedy depends on; `asked` are structures of `host`, `api_key`, `instead` and
`rule`, one for each different access that was denied."""
REMEDY = pa.struct([("remedy", pa.string()), ("not_known", pa.string())])
NOT_NEEDED = "none: these ACLs allow it"
_DEFAULT_DENY = "DefaultDeny"
_AFTER_DENY = "whether other DENYs apply, and whether an ALLOW does"
_WITHOUT_RULE = "whether a DENY applies"


class Step(msgspec.Struct, frozen=True):
    """One step: `add` or `remove` exactly this ACL."""

    verb: str
    acl: Acl

    def __str__(self) -> str:
        return f"{self.verb} {acl_rule(self.acl)}"


class Remedy(msgspec.Struct, frozen=True):
    """Steps in their order, and what is not known about further needed steps."""

    steps: tuple[Step, ...]
    not_known: str = ""


def remedies(
    authorizer: StandardAuthorizer | None, questions: Sequence[pa.Array]
) -> pa.StructArray:
    """Return texts for rows of `QUESTIONS`; complete if there is an authorizer with the ACLs."""
    rows = zip(*(column.to_pylist() for column in questions), strict=True)
    texts: list[str] = []
    gaps: list[str] = []
    for row in rows:
        *what, asked = row
        denied = [{**dict(zip(QUESTIONS[:-1], what, strict=True)), **each} for each in asked]
        found = observed_remedy(denied) if authorizer is None else remedy(authorizer, denied)
        texts.append("; ".join(map(str, found.steps)) or NOT_NEEDED)
        gaps.append(found.not_known)
    return pa.StructArray.from_arrays([pa.array(texts), pa.array(gaps)], fields=list(REMEDY))


def remedy(authorizer: StandardAuthorizer, denied: Sequence[dict[str, Any]]) -> Remedy:
    """Return the steps after which all ACLs together allow these rows; none if they already do.

    The rows have the same principal, operation and resource, and the columns of `DECISION_COLUMNS`.
    """
    steps: list[Step] = []
    with _restored(authorizer, steps):
        for row in denied:
            while not verdict(authorizer, row).allowed:
                step = _next_step(authorizer, row)
                _do(authorizer, step)
                steps.append(step)
        return Remedy(tuple(steps))


def observed_remedy(denied: Sequence[dict[str, Any]]) -> Remedy:
    """Return the steps that follow from the rules in the trace; complete only for `DefaultDeny`."""
    rules = dict.fromkeys(row["rule"] for row in denied)
    named = [acl for rule in rules if (acl := parse_acl_rule(rule)) is not None]
    steps = [Step("remove", acl) for acl in named]
    without = next((row for row in denied if parse_acl_rule(row["rule"]) is None), None)
    if without is not None:
        steps += [Step("add", _allow(target)) for target in _targets(without)]
    if named:
        return Remedy(tuple(steps), _AFTER_DENY)
    return Remedy(tuple(steps), "" if set(rules) == {_DEFAULT_DENY} else _WITHOUT_RULE)


def _next_step(authorizer: StandardAuthorizer, row: dict[str, Any]) -> Step:
    for target in _targets(row):
        decision = verdict(authorizer, target)
        if not decision.allowed:
            if decision.acl is not None:
                return Step("remove", decision.acl)
            return Step("add", _allow(target))
    raise AssertionError(row)


def _targets(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the accesses to allow; for access to any resource of a type, a resource by name."""
    if not is_about_any(row) or not row["instead"]:
        return [{**row, "instead": []}]
    names = ("operation", "resource_type", "resource_name")
    others = (dict(zip(names, access_parts(text), strict=True)) for text in row["instead"])
    return [{**row, **other, "instead": []} for other in others]


def _allow(row: dict[str, Any]) -> Acl:
    return Acl(
        ResourceType[row["resource_type"]],
        row["resource_name"] or WILDCARD,  # an ACL cannot have an empty name
        PatternType.LITERAL,
        row["principal"],
        WILDCARD,
        Operation[row["operation"]],
        Permission.ALLOW,
    )


def _do(authorizer: StandardAuthorizer, step: Step) -> None:
    change = authorizer.store.add if step.verb == "add" else authorizer.store.remove
    change(step.acl)


@contextmanager
def _restored(authorizer: StandardAuthorizer, steps: list[Step]) -> Iterator[None]:
    """Undo the steps at the end, since the authorizer is shared."""
    try:
        yield
    finally:
        for step in reversed(steps):
            _do(authorizer, Step("remove" if step.verb == "add" else "add", step.acl))
