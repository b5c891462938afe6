"""ACLs as tests write them."""

from collections.abc import Sequence
from typing import TypedDict

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
