"""The definition of a fault: conditions, trigger and effects."""

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError, parse_operation, parse_resource_type
from kafka_shim.authorizer.model import Acl, Action, is_principal, with_user_type
from kafka_shim.protocol.code_names import api_key_by_name
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode

_INT16_MAX = 2**15 - 1
_KNOWN_CODES = frozenset(ErrorCode)
NUMBER_MAX = 2**31 - 1
"""Responses have no room for more."""


class FaultError(ValueError):
    """An invalid fault; the text says what is wrong and what to write instead."""


class Match(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which requests: all given fields must match. `topic`, `group`, `transactional_id`: the
    request names it, alone or among others; `partition`: of that topic, or of any. `api` is a name
    such as `Produce`.
    """

    api: str | None = None
    version: int | None = None
    client_id: str | None = None
    principal: str | None = None
    topic: str | None = None
    partition: int | None = None
    group: str | None = None
    transactional_id: str | None = None
    node_id: int | None = None

    def __post_init__(self) -> None:
        """Make `alice` the principal User:alice."""
        if self.principal is not None:
            msgspec.structs.force_setattr(self, "principal", with_user_type(self.principal))


class Trigger(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which of the matching requests get the fault; by default the first.

    `on_call` n: only the n-th; `times` n: the first n; `with_probability` p: each with this chance
    (0 to 1), and the same requests for the same `seed`.
    """

    on_call: int | None = None
    times: int | None = None
    every_time: bool = False
    with_probability: float | None = None
    seed: int = 0


class Denial(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The actions that are denied: those that have all given properties."""

    operation: str | None = None
    resource_type: str | None = None
    resource_name: str | None = None


class Effect(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The effects of a fault, which can be combined.

    `error`: respond with this error (name or code, also an unknown one) without handling the
    request. `delay_ms`: delay the response. `disconnect`: close the connection `before` the request
    is handled, or `after`, without its response. `black_hole`: handle the request, never respond.
    `pause`: handle it, respond when the fault is released. `throttle_time_ms`: the value in the
    response. `truncate`: send this number of bytes of the response, then close the connection.
    `corrupt`: flip bits of the response's body. `correlation_id`, `size`: other values in the
    response. `tagged_bytes`: add an unknown tagged field of this size (flexible versions). `set`:
    set fields of the response by their paths, such as `topics.*.error_code`. `api_versions`: lowest
    and highest version of an API in ApiVersions, or null for none. `deny`: deny permissions as if
    by a DENY ACL, even for super users. `revoke`, `grant`: remove or add ACLs permanently before
    the request is handled.
    """

    error: str | int | None = None
    delay_ms: int | None = None
    disconnect: Literal["before", "after"] | None = None
    black_hole: bool = False
    pause: bool = False
    throttle_time_ms: int | None = None
    truncate: int | None = None
    corrupt: bool = False
    correlation_id: int | None = None
    size: int | None = None
    tagged_bytes: int | None = None
    set: dict[str, Any] | None = None
    api_versions: dict[str, list[int] | None] | None = None
    deny: Denial | None = None
    revoke: list[dict[str, Any]] | None = None
    grant: list[dict[str, Any]] | None = None


class FaultSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fault as people write it; its test fails if `must_fire` is set and it never fires."""

    action: Effect
    match: Match = Match()
    trigger: Trigger = Trigger()
    must_fire: bool = False


_EFFECT_NAMES = Effect.__struct_fields__


def check_fault_spec(spec: FaultSpec) -> None:
    """Raise FaultError for a fault without an action, or with invalid numbers."""
    _check_trigger(spec.trigger)
    _check_numbers(spec.action)
    principal = spec.match.principal
    if principal is not None and not is_principal(principal):
        raise FaultError(f"match.principal `{principal}`: expected one such as alice or User:alice")
    if spec.match.partition is not None and spec.match.partition < 0:
        raise FaultError(
            f"match.partition must be a number of 0 or more, not {spec.match.partition}"
        )
    if spec.action == Effect():
        raise FaultError(f"the fault has no action; expected one of {', '.join(_EFFECT_NAMES)}")


def parse_api_name(name: str | None) -> ApiKey | None:
    """Return the API with this name, in any case. Raise FaultError if it is unknown."""
    if name is None:
        return None
    key = api_key_by_name(name)
    if key is None:
        raise FaultError(f"unknown API `{name}`; expected a name such as Produce")
    return key


def parse_error_code(text: str | int | None) -> int | None:
    """Return the code of an error by its name; a number is returned unchanged, even if unknown."""
    if text is None:
        return None
    if isinstance(text, int):
        if not -_INT16_MAX - 1 <= text <= _INT16_MAX:
            raise FaultError(f"action.error must be a number of 16 bits, not {text}")
        return ErrorCode(text) if text in _KNOWN_CODES else text
    try:
        return ErrorCode[text.upper()]
    except KeyError as error:
        raise FaultError(
            f"unknown error `{text}`; expected a name such as NOT_LEADER_OR_FOLLOWER"
        ) from error


def denied_action_predicate(spec: FaultSpec) -> Callable[[Action], bool] | None:
    """Return a predicate of denied actions; by default, those on the topic that a fault matches."""
    denial, match = spec.action.deny, spec.match
    if denial is None:
        return None
    operation: Operation | None = None
    resource_type: ResourceType | None = None
    name = denial.resource_name
    try:
        if denial.operation is not None:
            operation = parse_operation(denial.operation)
        if denial.resource_type is not None:
            resource_type = parse_resource_type(denial.resource_type)
    except AclTextError as error:
        raise FaultError(f"action.deny: {error}") from error
    if resource_type is None and name is None and match.topic is not None:
        resource_type, name = ResourceType.TOPIC, match.topic
    return lambda action: (
        operation in (None, action.operation)
        and resource_type in (None, action.resource_type)
        and name in (None, action.resource_name)
    )


def parse_fault_acls(rules: list[dict[str, Any]] | None) -> list[Acl]:
    """Parse ACLs as in an ACL file. Raise FaultError if one is invalid."""
    from kafka_shim.policy.formats.yaml_rules import parse_acls_of_test_broker  # noqa: PLC0415 - faults are rare

    try:
        return parse_acls_of_test_broker(rules or [])
    except AclTextError as error:
        raise FaultError(f"action: {error}") from error


def _check_trigger(trigger: Trigger) -> None:
    limits = [trigger.on_call, trigger.times, trigger.with_probability, trigger.every_time or None]
    if sum(limit is not None for limit in limits) > 1:
        raise FaultError(
            "invalid trigger; expected one of on_call, times, every_time, with_probability"
        )
    for name in ("on_call", "times"):
        number = getattr(trigger, name)
        if number is not None and number < 1:
            raise FaultError(f"trigger.{name} must be a number of 1 or more, not {number}")
    if trigger.with_probability is not None and not 0 <= trigger.with_probability <= 1:
        raise FaultError("trigger.with_probability must be between 0 and 1")


def _check_numbers(effect: Effect) -> None:
    for name in ("correlation_id", "size"):
        number = getattr(effect, name)
        if number is not None and not -NUMBER_MAX - 1 <= number <= NUMBER_MAX:
            raise FaultError(f"action.{name} must be a number of 32 bits, not {number}")
    for name in ("delay_ms", "throttle_time_ms", "truncate", "tagged_bytes"):
        number = getattr(effect, name)
        if number is not None and not 0 <= number <= NUMBER_MAX:
            raise FaultError(f"action.{name} must be a number from 0 to {NUMBER_MAX}, not {number}")
