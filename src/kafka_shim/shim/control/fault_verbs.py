"""The control API's calls about faults."""

from collections.abc import Mapping
from typing import Any

from kafka_shim.shim.broker import Broker
from kafka_shim.shim.control.problem import ControlError, authorizer_of
from kafka_shim.shim.faults.fault import Fault
from kafka_shim.shim.faults.spec import FaultError
from kafka_shim.shim.whole_number import whole_number


class ControlFaults:
    """The faults of a cluster; every method answers plain values."""

    def __init__(self, broker: Broker) -> None:
        self._cluster = broker.cluster
        self._faults = broker.faults

    def rows(self) -> dict[str, Any]:
        return {"faults": [fault.row() for fault in self._faults]}

    def add(self, written: Mapping[str, Any]) -> dict[str, Any]:
        if not isinstance(written, Mapping):
            raise ControlError(400, "a fault is an object with `action`, `match`, `trigger`")
        action = written.get("action")
        needs = {"deny", "revoke", "grant"}
        if isinstance(action, Mapping) and needs & action.keys():
            authorizer_of(self._cluster)
        try:
            return self._faults.add(written).row()
        except FaultError as error:
            raise ControlError(400, str(error)) from error

    def row(self, fault_id: str) -> dict[str, Any]:
        return self._fault(fault_id).row()

    def clear(self) -> dict[str, Any]:
        self._faults.clear()
        return {"done": True}

    def remove(self, fault_id: str) -> dict[str, Any]:
        self._faults.remove(self._fault(fault_id).fault_id)
        return {"done": True}

    def release(self, fault_id: str) -> dict[str, Any]:
        return {"released": self._fault(fault_id).release()}

    def _fault(self, text: str) -> Fault:
        number = whole_number(text)
        found = None if number is None else self._faults.get(number)
        if found is None:
            raise ControlError(404, f"unknown fault `{text}`")
        return found
