"""What an ACL set says about observed accesses: Arrow batches in, Arrow batches out."""

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from authorizer.acl_formats.trace_rule import decision_rule
from authorizer.authorizer import StandardAuthorizer
from authorizer.model import Action, Actor, Decision
from pipeline.acl_set import AclSet, engine
from pipeline.roles import any_name_keys, is_any_name
from pipeline.tables import OBSERVED
from protocol.enums import Operation, ResourceType

JUDGED = pa.schema(
    [*OBSERVED, ("would_be_allowed", pa.bool_()), ("would_be_rule", pa.string())],
)


def judge(
    acl_set: AclSet, baseline: AclSet | None = None
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A function for mapInArrow: batches of `observed`, with what this set decides.

    With a baseline, `allowed` and `rule` are what that decides and not what was recorded.
    """
    digest = acl_set.digest()
    base_digest = "" if baseline is None else baseline.digest()

    def judged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        authorizer = engine(acl_set, digest)
        before = None if baseline is None else engine(baseline, base_digest)
        for batch in batches:
            rows = batch.to_pylist()
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            if before is not None:
                columns["allowed"], columns["rule"] = _verdicts(before, rows)
            columns["would_be_allowed"], columns["would_be_rule"] = _verdicts(authorizer, rows)
            arrays = [columns[name] for name in JUDGED.names]
            yield pa.RecordBatch.from_arrays(arrays, schema=JUDGED)

    return judged


def _verdicts(
    authorizer: StandardAuthorizer, rows: list[dict[str, Any]]
) -> tuple[pa.Array, pa.Array]:
    decisions = [verdict(authorizer, row) for row in rows]
    allowed = pa.array([one.allowed for one in decisions], pa.bool_())
    return allowed, pa.array([decision_rule(one) for one in decisions], pa.string())


def verdict(authorizer: StandardAuthorizer, row: dict[str, Any]) -> Decision:
    """Whether the requirement behind an observed access is met: by it, or by what does instead."""
    actor = Actor(row["principal"], row["host"])
    own = _decide(
        authorizer,
        actor,
        row["api_key"],
        (row["operation"], row["resource_type"], row["resource_name"]),
    )
    instead = row["instead"]
    if own.allowed or not instead:
        return own
    others = [_decide_text(authorizer, actor, row["api_key"], text) for text in instead]
    return others[0] if all(one.allowed for one in others) else own


def _decide(
    authorizer: StandardAuthorizer, actor: Actor, api_key: int, what: tuple[str, str, str]
) -> Decision:
    operation, resource_type = Operation[what[0]], ResourceType[what[1]]
    if is_any_name(api_key, operation, resource_type, what[2]):
        return authorizer.authorize_by_resource_type(actor, operation, resource_type)
    return authorizer.authorize(actor, Action(operation, resource_type, what[2]))


def _decide_text(authorizer: StandardAuthorizer, actor: Actor, api_key: int, text: str) -> Decision:
    operation, resource_type, name = text.split("|", 2)
    return _decide(authorizer, actor, api_key, (operation, resource_type, name))


def is_about_any(row: dict[str, Any]) -> bool:
    """Whether an observed row was a question about a whole resource type."""
    if row["resource_name"] != "*":
        return False
    key = (row["api_key"], Operation[row["operation"]], ResourceType[row["resource_type"]])
    return key in any_name_keys()
