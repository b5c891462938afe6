"""Faults on purpose: which requests they are about, when they strike, and how often they did.

What they do to a request is in `shim/striking.py`.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from authorizer.acl_names import AclTextError, parse_operation, parse_resource_type
from authorizer.model import Acl, Action
from protocol.enums import ApiKey, Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.errors import ProtocolError

if TYPE_CHECKING:
    from protocol.skim import ResourceNames
    from shim.context import RequestContext

_API_NAMES = {key.wire_name.lower(): key for key in ApiKey}


class FaultError(ValueError):
    """A fault that cannot be; the text says what is wrong and what to write instead."""


class Match(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which requests: all that are given must hold. `topic`, `group`, `transactional_id`: the
    request names it, alone or among others. `api` is a name such as `Produce`.
    """

    api: str | None = None
    version: int | None = None
    client_id: str | None = None
    principal: str | None = None
    topic: str | None = None
    group: str | None = None
    transactional_id: str | None = None
    node_id: int | None = None


class Trigger(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """When, among the requests that match; without any, once: at the first.

    `on_call` n: at the n-th only; `times` n: at the first n; `with_probability` p: each time with
    that chance (0 to 1), the same ones for the same `seed`.
    """

    on_call: int | None = None
    times: int | None = None
    every_time: bool = False
    with_probability: float | None = None
    seed: int = 0


class Denial(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which questions of a request are denied; those that are not given may be any."""

    operation: str | None = None
    resource_type: str | None = None
    resource_name: str | None = None


class Effect(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What happens; several may be combined.

    `error`: the answer is this error (name or code), and nothing is done. `delay_ms`: the answer
    comes that much later. `disconnect`: the connection is closed `before` the request is handled,
    or `after`, when its answer is lost. `black_hole`: handled, never answered. `pause`: handled,
    answered once the fault is released. `throttle_time_ms`: what the answer says. `truncate`: so
    many bytes of the answer, then the connection is closed. `corrupt`: bits of the answer's body
    are flipped. `deny`: permissions are missing, as if by a DENY ACL, even for super users.
    `revoke`, `grant`: these ACLs go or come before the request is handled, for good.
    """

    error: str | int | None = None
    delay_ms: int | None = None
    disconnect: Literal["before", "after"] | None = None
    black_hole: bool = False
    pause: bool = False
    throttle_time_ms: int | None = None
    truncate: int | None = None
    corrupt: bool = False
    deny: Denial | None = None
    revoke: list[Any] | None = None
    grant: list[Any] | None = None


class FaultSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fault as people write it."""

    action: Effect
    match: Match = Match()
    trigger: Trigger = Trigger()


class Fault:
    """One fault at work. `calls` counts the requests that matched, `fired` those it struck."""

    def __init__(self, fault_id: int, spec: FaultSpec) -> None:
        self.fault_id = fault_id
        self.spec = spec
        self.calls = 0
        self.fired = 0
        self.api = _api(spec.match.api)
        _check_trigger(spec.trigger)
        _check_numbers(spec.action)
        self.error = _error(spec.action.error)
        self.denial = _denial(spec)
        self.revoked = _acls(spec.action.revoke)
        self.granted = _acls(spec.action.grant)
        self._random = random.Random(spec.trigger.seed)  # noqa: S311 - chances of a test, repeatable
        self._held: list[Callable[[], None]] = []
        if spec.action == Effect():
            raise FaultError(f"the fault does nothing; give one of {', '.join(_EFFECTS)}")

    def row(self) -> dict[str, Any]:
        """For the control API: the fault as it was written, with its counts."""
        written: dict[str, Any] = msgspec.to_builtins(self.spec)
        return {"id": self.fault_id, "calls": self.calls, "fired": self.fired} | written

    def is_about(self, api: ApiKey, context: "RequestContext") -> bool:
        """Whether the request matches, as far as can be told without its names."""
        match = self.spec.match
        return (
            self.api in (None, api)
            and match.version in (None, context.version)
            and match.client_id in (None, context.header.client_id)
            and match.principal in (None, context.session.principal)
            and match.node_id in (None, context.node_id)
        )

    def names_match(self, names: "Names") -> bool:
        match = self.spec.match
        return (
            (match.topic is None or match.topic in names.topics)
            and (match.group is None or match.group in names.groups)
            and (match.transactional_id is None or match.transactional_id in names.transactions)
        )

    def fires(self) -> bool:
        """Count a request that matches; whether it is struck."""
        self.calls += 1
        trigger = self.spec.trigger
        if trigger.every_time:
            fires = True
        elif trigger.with_probability is not None:
            fires = self._random.random() < trigger.with_probability
        elif trigger.on_call is not None:
            fires = self.calls == trigger.on_call
        else:
            fires = self.calls <= (1 if trigger.times is None else trigger.times)
        self.fired += fires
        return fires

    def hold(self, answer: Callable[[], None]) -> None:
        self._held.append(answer)

    def release(self) -> int:
        """Let go what a pause holds back; how many answers that were."""
        held, self._held = self._held, []
        for answer in held:
            answer()
        return len(held)


class Names:
    """The names that a request says, looked for only when a fault asks."""

    def __init__(self, context: "RequestContext", frame: bytes, body_at: int) -> None:
        self._context = context
        self._frame = frame
        self._body_at = body_at
        self._found: ResourceNames | None = None

    @property
    def topics(self) -> list[str]:
        known = self._context.cluster.topics
        ids = [known.by_id(topic_id) for topic_id in self._names.topic_ids]
        return [*self._names.topics, *(topic.name for topic in ids if topic is not None)]

    @property
    def groups(self) -> list[str]:
        return self._names.groups

    @property
    def transactions(self) -> list[str]:
        return self._names.transactional_ids

    @property
    def _names(self) -> "ResourceNames":
        from protocol.skim import ResourceNames, skim_request  # noqa: PLC0415 - faults are rare

        if self._found is None:
            header = self._context.header
            try:
                self._found = skim_request(
                    header.api_key, header.api_version, self._frame, self._body_at
                )
            except ProtocolError:
                self._found = ResourceNames()
        return self._found


class Faults:
    """All faults of a cluster, in the order in which they were set; false without any."""

    def __init__(self) -> None:
        self._faults: dict[int, Fault] = {}
        self._next_id = 1

    def __bool__(self) -> bool:
        return bool(self._faults)

    def __iter__(self) -> Iterator[Fault]:
        return iter(list(self._faults.values()))

    def add(self, written: Mapping[str, Any]) -> Fault:
        """Set a fault; FaultError says what is wrong with it."""
        try:
            spec = msgspec.convert(written, FaultSpec)
        except msgspec.ValidationError as error:
            raise FaultError(f"no fault: {error}") from error
        fault = Fault(self._next_id, spec)
        self._next_id += 1
        self._faults[fault.fault_id] = fault
        return fault

    def get(self, fault_id: int) -> Fault | None:
        return self._faults.get(fault_id)

    def remove(self, fault_id: int) -> None:
        """Lift a fault; what it holds back is answered. KeyError if there is none."""
        self._faults.pop(fault_id).release()

    def clear(self) -> None:
        for fault_id in list(self._faults):
            self.remove(fault_id)

    def striking(
        self, api: ApiKey, context: "RequestContext", frame: bytes, body_at: int
    ) -> list[Fault]:
        """Those that strike this request; every one that matches counts it."""
        names = Names(context, frame, body_at)
        return [
            fault
            for fault in self._faults.values()
            if fault.is_about(api, context) and fault.names_match(names) and fault.fires()
        ]


_EFFECTS = Effect.__struct_fields__


def _api(name: str | None) -> ApiKey | None:
    if name is None:
        return None
    found = _API_NAMES.get(name.lower())
    if found is None:
        raise FaultError(f"no api is named `{name}`; use Kafka's name, as in `Produce`")
    return found


def _check_trigger(trigger: Trigger) -> None:
    given = [trigger.on_call, trigger.times, trigger.with_probability, trigger.every_time or None]
    if sum(one is not None for one in given) > 1:
        raise FaultError("a trigger is one of on_call, times, every_time, with_probability")
    for name in ("on_call", "times"):
        number = getattr(trigger, name)
        if number is not None and number < 1:
            raise FaultError(f"trigger.{name} is a number from 1, not {number}")
    if trigger.with_probability is not None and not 0 <= trigger.with_probability <= 1:
        raise FaultError("trigger.with_probability is between 0 and 1")


def _check_numbers(effect: Effect) -> None:
    for name in ("delay_ms", "throttle_time_ms", "truncate"):
        number = getattr(effect, name)
        if number is not None and number < 0:
            raise FaultError(f"action.{name} is a number from 0, not {number}")


def _error(text: str | int | None) -> ErrorCode | None:
    if text is None:
        return None
    try:
        return ErrorCode(text) if isinstance(text, int) else ErrorCode[text.upper()]
    except (KeyError, ValueError) as error:
        raise FaultError(f"no error is named `{text}`, as in `NOT_LEADER_OR_FOLLOWER`") from error


def _denial(spec: FaultSpec) -> Callable[[Action], bool] | None:
    """Whether a question is denied; of a fault about one topic, questions about that topic."""
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


def _acls(rules: list[Any] | None) -> list[Acl]:
    from authorizer.acl_formats.rules import parse_rules  # noqa: PLC0415 - faults are rare

    try:
        return parse_rules(rules or [])
    except AclTextError as error:
        raise FaultError(f"action: {error}") from error
