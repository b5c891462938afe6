"""What the control API does with faults."""

from collections.abc import Mapping
from typing import Any

from shim.control.problem import ControlError, authorizer_of
from shim.faults.fault import Fault
from shim.faults.spec import FaultError
from shim.state.cluster import Cluster


class ControlFaults:
    """The faults of a cluster; every method answers plain values."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def rows(self) -> dict[str, Any]:
        return {"faults": [fault.row() for fault in self._cluster.faults]}

    def add(self, written: Mapping[str, Any]) -> dict[str, Any]:
        if not isinstance(written, Mapping):
            raise ControlError(400, "a fault is an object with `action`, `match`, `trigger`")
        action = written.get("action")
        needs = {"deny", "revoke", "grant"}
        if isinstance(action, Mapping) and needs & action.keys():
            authorizer_of(self._cluster)
        try:
            return self._cluster.faults.add(written).row()
        except FaultError as error:
            raise ControlError(400, str(error)) from error

    def row(self, fault_id: str) -> dict[str, Any]:
        return self._fault(fault_id).row()

    def clear(self) -> dict[str, Any]:
        self._cluster.faults.clear()
        return {"done": True}

    def remove(self, fault_id: str) -> dict[str, Any]:
        self._cluster.faults.remove(self._fault(fault_id).fault_id)
        return {"done": True}

    def release(self, fault_id: str) -> dict[str, Any]:
        return {"released": self._fault(fault_id).release()}

    def _fault(self, text: str) -> Fault:
        found = self._cluster.faults.get(int(text)) if text.isdigit() else None
        if found is None:
            raise ControlError(404, f"there is no fault `{text}`")
        return found
