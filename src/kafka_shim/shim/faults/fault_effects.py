"""Apply faults to a request and to its response."""

from collections.abc import Callable, Sequence
from struct import Struct
from typing import Any

import msgspec

from kafka_shim.authorizer.model import Acl, Action, Actor
from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.codec.message_spec import load_message_spec
from kafka_shim.protocol.codec.runtime import encode_unsigned_varint
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.responses import replace_error_codes
from kafka_shim.shim.apis import ServedApi
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.faults.fault import Fault
from kafka_shim.shim.faults.spec import Effect
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.wait import PendingResponse

DamageFrame = Callable[[bytes], bytes]

_CORRUPTED_FROM = 8
"""Size and correlation id stay: the client must take it for its response."""
_INT = Struct(">i")
_TAG = 9999
"""No message has one of this number."""


def build_frame_damage(effects: Sequence[Effect], api: ServedApi) -> DamageFrame | None:
    """Return a function that applies the effects to a frame; None without such effects."""
    steps: list[DamageFrame] = []
    for effect in effects:
        if effect.tagged_bytes is not None:
            steps.append(_tagged_field_insertion(api, effect.tagged_bytes))
        if effect.corrupt:
            steps.append(_flip_body_bits)
        if effect.correlation_id is not None:
            steps.append(_int32_overwrite(4, effect.correlation_id))
        if effect.size is not None:
            steps.append(_int32_overwrite(0, effect.size))
    lengths = [effect.truncate for effect in effects if effect.truncate is not None]
    if lengths:
        steps.append(_truncation(min(lengths)))
    if not steps:
        return None

    def damage_frame(frame: bytes) -> bytes:
        for step in steps:
            frame = step(frame)
        return frame

    return damage_frame


def _flip_body_bits(frame: bytes) -> bytes:
    head, body = frame[:_CORRUPTED_FROM], frame[_CORRUPTED_FROM:]
    return head + bytes(byte ^ 0xFF for byte in body)


def _int32_overwrite(offset: int, number: int) -> DamageFrame:
    return lambda frame: frame[:offset] + _INT.pack(number) + frame[offset + 4 :]


def _truncation(length: int) -> DamageFrame:
    def truncate(frame: bytes) -> bytes:
        raise CloseConnection("a fault cut a response short", last_bytes=frame[:length])

    return truncate


def _tagged_field_insertion(api: ServedApi, length: int) -> DamageFrame:
    """Return a function that inserts an unknown tagged field into the header of flexible responses.

    It is also inserted into a body that never has tagged fields of its own: the last byte of that
    body is their number, 0.
    """
    if not api.has_response_tags:
        return lambda frame: frame
    spec = load_message_spec(f"{api.key.wire_name}Response")
    has_tags = any(field.tagged_versions.has(api.version) for field in spec.top_level_struct.fields)
    section = (
        b"\x01" + encode_unsigned_varint(_TAG) + encode_unsigned_varint(length) + bytes(length)
    )

    def damage_frame(frame: bytes) -> bytes:
        header, body = frame[4:8] + section, frame[9:]
        if not has_tags:
            body = body[:-1] + section
        return _INT.pack(len(header) + len(body)) + header + body

    return damage_frame


Handle = Callable[[], Any]


def response_with_faults(
    faults: list[Fault],
    api: ServedApi,
    request: Any,
    context: RequestContext,
    handle_request: Handle,
) -> Any:
    """Respond to a request under faults. Raise CloseConnection if one closes the connection."""
    for fault in faults:
        _apply_request_effects(fault, context)
    response = _handle_with_faults(faults, api, request, context, handle_request)
    if any(fault.spec.action.disconnect == "after" for fault in faults):
        raise CloseConnection("a fault closes the connection after its request was handled")
    context.damage_frame = build_frame_damage([fault.spec.action for fault in faults], api)
    return _apply_response_effects(faults, response, context.cluster, context.version)


def _apply_request_effects(fault: Fault, context: RequestContext) -> None:
    if fault.spec.action.disconnect == "before":
        raise CloseConnection("a fault closes the connection instead of handling a request")
    authorizer = context.cluster.policy.authorizer
    actor = Actor(context.session.principal, context.session.host)
    if authorizer is not None:
        if fault.granted:
            authorizer.create_acls(actor, fault.granted)
        if fault.revoked:
            fault.revoked_nothing = not remove_exact_acls(context.cluster, fault.revoked)
    if fault.denial is not None:
        context.access.denied_by_fault = _either_predicate(
            context.access.denied_by_fault, fault.denial
        )


def _either_predicate(
    first: Callable[[Action], bool] | None, second: Callable[[Action], bool]
) -> Callable[[Action], bool]:
    return second if first is None else lambda action: first(action) or second(action)


def _handle_with_faults(
    faults: list[Fault],
    api: ServedApi,
    request: Any,
    context: RequestContext,
    handle_request: Handle,
) -> Any:
    error = next((fault.error for fault in faults if fault.error is not None), None)
    if error is None:
        return handle_request()
    if api.key is ApiKey.PRODUCE and request.acks == 0:  # such a producer waits for no response
        raise CloseConnection(
            f"a fault returns {error_name_with_code(error)}, and this Produce expects no response"
        )
    context.is_rejected = True
    if isinstance(error, ErrorCode):
        return api.error_response(request, error, None)
    response = api.error_response(request, ErrorCode.UNKNOWN_SERVER_ERROR, None)
    replace_error_codes(response, ErrorCode.UNKNOWN_SERVER_ERROR, error)
    return response


def _apply_response_effects(
    faults: list[Fault], response: Any, cluster: Cluster, version: int
) -> Any:
    """Return the response, or a pending one if faults hold it back."""
    effects = _CombinedResponseEffects(faults, cluster, version)
    if not isinstance(response, PendingResponse | msgspec.Struct):
        return response  # the protocol has no response here
    if isinstance(response, msgspec.Struct) and not effects.withholds_response:
        return effects.with_fault_fields(response)
    held_back: PendingResponse[Any] = PendingResponse(
        response.cancel if isinstance(response, PendingResponse) else None
    )
    if isinstance(response, PendingResponse):
        response.set_response_callback(lambda value: effects.complete_later(value, held_back))
    else:
        effects.complete_later(response, held_back)
    return held_back


class _CombinedResponseEffects:
    """What the faults together do to a response: fields, delay, pause, or no response at all."""

    def __init__(self, faults: list[Fault], cluster: Cluster, version: int) -> None:
        self._version = version
        actions = [fault.spec.action for fault in faults]
        self._clock = cluster.clock
        self._throttle_time_ms = max(effect.throttle_time_ms or 0 for effect in actions)
        self._delay_ms = sum(effect.delay_ms or 0 for effect in actions)
        self._pausing = [fault for fault in faults if fault.spec.action.pause]
        self._alter = [
            alter for fault in faults for alter in (fault.alter, fault.advertise) if alter
        ]
        self._drops_response = any(effect.black_hole for effect in actions)

    @property
    def withholds_response(self) -> bool:
        return bool(self._delay_ms or self._pausing or self._drops_response)

    def complete_later(self, response: Any, pending: PendingResponse[Any]) -> None:
        """Complete `pending` after the pause and the delay; never if a fault drops the response."""
        if self._drops_response:
            return
        if self._pausing:
            self._pausing[0].hold_response(lambda: self._complete_delayed(response, pending))
        else:
            self._complete_delayed(response, pending)

    def _complete_delayed(self, response: Any, pending: PendingResponse[Any]) -> None:
        response = self.with_fault_fields(response)
        if self._delay_ms:
            self._clock.call_later(self._delay_ms, lambda: pending.complete(response))
        else:
            pending.complete(response)

    def with_fault_fields(self, response: Any) -> Any:
        """Return the response with the fields that faults set."""
        for alter in self._alter:
            response = alter(response, self._version)
        if self._throttle_time_ms and hasattr(response, "throttle_time_ms"):
            return msgspec.structs.replace(response, throttle_time_ms=self._throttle_time_ms)
        return response


def remove_exact_acls(cluster: Cluster, acls: list[Acl]) -> list[Acl]:
    """Remove exactly these ACLs; return those that existed."""
    authorizer = cluster.policy.authorizer
    if authorizer is None:
        return []
    filters = [acl.to_exact_filter() for acl in acls]
    results = authorizer.delete_acls(Actor("User:ANONYMOUS", "127.0.0.1"), filters)
    return [acl for result in results for acl in result.matches]
