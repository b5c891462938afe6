"""Text and JSON of concrete accesses and the decisions about them."""

from collections.abc import Iterator
from typing import Any

from kafka_shim.authorizer.acl_names import camel_case
from kafka_shim.authorizer.acl_objects import acls_to_objects
from kafka_shim.authorizer.model import Decision, DecisionReason
from kafka_shim.cli.policy.descriptions import acl_sentence, resource_text_or_at_least_one
from kafka_shim.policy.certificate import witness_object
from kafka_shim.policy.name_sets import NameSet
from kafka_shim.policy.witness import Witness


def witness_lines(witness: Witness, before: str, after: str) -> Iterator[str]:
    """Yield the access and, for both sides, the decision with the ACL that decides."""
    yield access_text(witness)
    yield f"{before}: {decision_text(witness.before)}"
    yield f"{after}: {decision_text(witness.after)}"


def witness_line(witness: Witness) -> str:
    """Return one line: the access, and the rule that allows it before or after."""
    return (
        f"{access_text(witness)} (before: {decision_rule_text(witness.before)};"
        f" after: {decision_rule_text(witness.after)})"
    )


def access_text(witness: Witness) -> str:
    name = witness.resource_name
    resource = resource_text_or_at_least_one(
        witness.resource_type, None if name is None else NameSet(name)
    )
    operation = camel_case(witness.operation)
    return f"{witness.actor.principal} from {witness.actor.host}: {operation} on {resource}"


def decision_text(decision: Decision) -> str:
    """Return `allowed (ALLOW User:alice Read on topic `orders`)`."""
    word = "allowed" if decision.allowed else "denied"
    return f"{word} ({decision_rule_text(decision)})"


def decision_rule_text(decision: Decision) -> str:
    """Return what decided: an ACL, or that there is none."""
    if decision.reason is DecisionReason.ACL and decision.acl is not None:
        return acl_sentence(decision.acl)
    return decision.reason.value


def decision_object(decision: Decision) -> dict[str, Any]:
    return {
        "allowed": decision.allowed,
        "because": decision.reason.name,
        "acl": None if decision.acl is None else acls_to_objects([decision.acl])[0],
    }


def witness_object_with_decisions(witness: Witness | None) -> dict[str, Any] | None:
    """Return the access with both decisions; None for a change that no client can notice."""
    if witness is None:
        return None
    decisions = {
        "before": decision_object(witness.before),
        "after": decision_object(witness.after),
    }
    return witness_object(witness) | decisions
