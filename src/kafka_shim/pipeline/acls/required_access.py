"""The accesses of rows of `observed`, as the authorizer's types."""

from collections.abc import Mapping
from typing import Any

from kafka_shim.authorizer.model import WILDCARD, Action, Actor
from kafka_shim.authorizer.remedy import CheckedAction, RequiredAccess
from kafka_shim.pipeline.rows.access_roles import accesses_to_any_resource, split_alternative
from kafka_shim.policy.least.least_acls import ObservedAccess
from kafka_shim.policy.least.name_prefixes import OperationOnResource
from kafka_shim.protocol.enums import Operation, ResourceType


def observed_access_of_row(row: Mapping[str, Any]) -> ObservedAccess:
    """Return a row with its decision, number of requests and time."""
    required = required_access_of_row(row)
    return ObservedAccess(required, row["allowed"], row["requests"], row["last_seen"])


def required_access_of_row(row: Mapping[str, Any]) -> RequiredAccess:
    """Return the access of a row: its own, or all of those that are in `instead`."""
    own = (_checked_action_of_row(row, operation_on_resource(row)),)
    instead = tuple(_checked_action_of_row(row, parse_alternative(text)) for text in row["instead"])
    return RequiredAccess(
        Actor(row["principal"], row["host"]), (own, instead) if instead else (own,)
    )


def operation_on_resource(row: Mapping[str, Any]) -> OperationOnResource:
    """Return the operation and resource of a row."""
    return Operation[row["operation"]], ResourceType[row["resource_type"]], row["resource_name"]


def parse_alternative(text: str) -> OperationOnResource:
    """Parse an entry of the column `instead`."""
    operation, kind, name = split_alternative(text)
    return Operation[operation], ResourceType[kind], name


def may_be_any_resource_check(api_key: int, access: OperationOnResource) -> bool:
    """Return whether an access of a request is to any resource of a type (KIP-679)."""
    operation, kind, name = access
    return name == WILDCARD and (api_key, operation, kind) in accesses_to_any_resource()


def is_any_resource_row(row: Mapping[str, Any]) -> bool:
    """Return whether a row is an access to any resource of a type."""
    return may_be_any_resource_check(row["api_key"], operation_on_resource(row))


def _checked_action_of_row(row: Mapping[str, Any], access: OperationOnResource) -> CheckedAction:
    return CheckedAction(
        Action(*access), any_name=may_be_any_resource_check(row["api_key"], access)
    )
