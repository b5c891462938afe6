"""The answer of `who_can` as plain values, ready for JSON."""

from typing import Any

from kafka_shim.authorizer.acl_formats.json_objects import to_objects
from kafka_shim.authorizer.model import ANY_USER, Action
from kafka_shim.shim.explaining.who_can import Refusal, Response, Right


def who_can_object(action: Action, response: Response) -> dict[str, Any]:
    """Return allowed principals, and denied ones with an ALLOW, as an object."""
    return {
        "operation": action.operation.name,
        "resource_type": action.resource_type.name,
        "resource_name": action.resource_name,
        "allowed": [_right_object(right) for right in response.rights],
        "denied": [_refusal_object(refusal) for refusal in response.refusals],
    }


def _right_object(right: Right) -> dict[str, Any]:
    return {
        "principal": right.principal,
        "everyone": right.principal == ANY_USER,
        "hosts": right.hosts,
        "except_hosts": right.except_hosts,
        "because": right.because.name,
        "acls": to_objects(right.acls),
        "denials": to_objects(right.denials),
    }


def _refusal_object(refusal: Refusal) -> dict[str, Any]:
    return {"principal": refusal.principal, "acls": to_objects(refusal.acls)}
