"""Faults on purpose, as a cluster has them; one of them is in `shim/faults/fault.py`."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.state.state_change import ChangeAction, ChangeObserver, StateChange

if TYPE_CHECKING:  # faults are rare: what they need is imported with the first
    from kafka_shim.shim.faults.fault import Fault
    from kafka_shim.shim.request.context import RequestContext


class Faults:
    """All faults of a cluster, in the order in which they were set."""

    def __init__(self, on_change: Callable[[], object] = int) -> None:
        """Start without faults; `on_change` is called when one was added or removed."""
        self._on_change = on_change
        self.by_id: dict[int, Fault] = {}
        self._by_api: dict[ApiKey, list[Fault]] = {}
        """The faults that requests of an API can match, by the APIs that were requested."""
        self._next_id = 1
        self.observe_change: ChangeObserver | None = None
        """Called after a fault was added, removed or switched, if it is set."""

    def __iter__(self) -> Iterator["Fault"]:
        return iter(list(self.by_id.values()))

    def add(self, fields: Mapping[str, Any]) -> "Fault":
        """Add a fault. Raise FaultError if it is invalid."""
        from kafka_shim.shim.faults.fault import Fault, parse_fault_spec  # noqa: PLC0415 - see above

        fault = Fault(self._next_id, parse_fault_spec(fields))
        self._next_id += 1
        self.by_id[fault.fault_id] = fault
        self._by_api.clear()
        self._on_change()
        self._report_change("added", fault)
        return fault

    def get(self, fault_id: int) -> "Fault | None":
        return self.by_id.get(fault_id)

    def remove(self, fault_id: int) -> None:
        """Remove a fault, and send the responses that it holds back.

        Raise KeyError if it does not exist.
        """
        fault = self.by_id.pop(fault_id)
        self._by_api.clear()
        self._on_change()
        fault.send_held_responses()
        self._report_change("removed", fault)

    def switch(self, fault: "Fault", *, is_disabled: bool) -> None:
        """Switch a fault off or on; one that is off matches no requests."""
        before, fault.is_disabled = fault.is_disabled, is_disabled
        if before != is_disabled:
            self._report_change("changed", fault)

    def _report_change(self, action: ChangeAction, fault: "Fault") -> None:
        if self.observe_change is None:
            return
        definition, is_disabled = msgspec.to_builtins(fault.spec), fault.is_disabled
        before, after = {
            "added": (None, definition),
            "removed": (definition, None),
            "changed": _switch_texts(is_disabled=is_disabled),
        }[action]
        self.observe_change(StateChange("fault", action, str(fault.fault_id), before, after))

    def remove_all(self) -> None:
        for fault_id in list(self.by_id):
            self.remove(fault_id)

    def fire_matching(
        self, api: ApiKey, context: "RequestContext", frame: bytes, body_at: int
    ) -> list["Fault"]:
        """Count the request at every matching fault; return those that fire."""
        from kafka_shim.shim.faults.fault import RequestedNames  # noqa: PLC0415 - see above

        faults = self._by_api.get(api)
        if faults is None:
            faults = [fault for fault in self.by_id.values() if fault.api in (None, api)]
            self._by_api[api] = faults
        if not faults:
            return []
        names = RequestedNames(context, frame, body_at)
        return [
            fault
            for fault in faults
            if not fault.is_disabled
            and fault.matches_apart_from_names(api, context)
            and fault.matches_names(names)
            and fault.advance_trigger()
        ]


def _switch_texts(*, is_disabled: bool) -> tuple[str, str]:
    return ("on", "off") if is_disabled else ("off", "on")
