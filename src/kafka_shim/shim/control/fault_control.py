"""List, add and remove the faults of a broker, for the control API."""

from collections.abc import Mapping
from typing import Any

from kafka_shim.shim.broker import Broker
from kafka_shim.shim.control.control_error import ControlError, authorizer_of
from kafka_shim.shim.control.setup_warnings import report_unmet_faults
from kafka_shim.shim.faults.fault import Fault
from kafka_shim.shim.faults.reachability import require_reachable
from kafka_shim.shim.faults.spec import FaultError
from kafka_shim.text.whole_number import parse_whole_number


class FaultControl:
    """The faults of a cluster; every method returns plain values."""

    def __init__(self, broker: Broker) -> None:
        self._cluster = broker.cluster
        self._faults = broker.faults

    def list_faults(self) -> dict[str, Any]:
        return {"faults": [fault.json_row() for fault in self._faults]}

    def add_fault(self, fault_json: Mapping[str, Any]) -> dict[str, Any]:
        if not isinstance(fault_json, Mapping):
            raise ControlError(400, "a fault is an object with `action`, `match`, `trigger`")
        action = fault_json.get("action")
        needs = {"deny", "revoke", "grant"}
        if isinstance(action, Mapping) and needs & action.keys():
            authorizer_of(self._cluster)
        try:
            require_reachable(fault_json, self._cluster)
            return self._faults.add(fault_json).json_row()
        except FaultError as error:
            raise ControlError(400, str(error)) from error

    def fault_row(self, fault_id: str) -> dict[str, Any]:
        return self._fault_or_404(fault_id).json_row()

    def remove_all_faults(self) -> dict[str, Any]:
        report = report_unmet_faults(self._faults)
        self._faults.remove_all()
        return report

    def remove_fault_by_id(self, fault_id: str) -> dict[str, Any]:
        fault = self._fault_or_404(fault_id)
        self._faults.remove(fault.fault_id)
        return report_unmet_faults([fault])

    def switch_fault(self, fault_id: str, *, is_disabled: bool) -> dict[str, Any]:
        fault = self._fault_or_404(fault_id)
        self._faults.switch(fault, is_disabled=is_disabled)
        return fault.json_row()

    def release_held_responses(self, fault_id: str) -> dict[str, Any]:
        return {"released": self._fault_or_404(fault_id).send_held_responses()}

    def _fault_or_404(self, text: str) -> Fault:
        number = parse_whole_number(text)
        fault = None if number is None else self._faults.get(number)
        if fault is None:
            raise ControlError(404, f"unknown fault `{text}`")
        return fault
