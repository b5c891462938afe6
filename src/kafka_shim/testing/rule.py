"""ACLs as tests write them."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from kafka_shim.testing.names import OperationName, PatternName

Names = str | Sequence[str]


class Rule(TypedDict, total=False):
    """A rule as keywords: a principal, `allow` or `deny` with operations, and one resource."""

    principal: Names
    allow: OperationName | Sequence[OperationName]
    deny: OperationName | Sequence[OperationName]
    topic: Names
    group: Names
    cluster: Names | None
    transactional_id: Names
    delegation_token: Names
    user: Names
    pattern: PatternName
    host: Names


def json_rules(*rules: Any) -> list[Any]:
    """Return rules for the broker, which reports what is wrong with those that are no mappings."""
    return [dict(rule) if isinstance(rule, Mapping) else rule for rule in rules]
