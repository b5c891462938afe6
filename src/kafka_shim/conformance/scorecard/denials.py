"""The denials of a client, and the behaviours that they prevented."""

from collections import Counter

import msgspec

from kafka_shim.authorizer.model import WILDCARD
from kafka_shim.protocol.enums import Operation, ResourceType
from kafka_shim.trace_format.entries import Access
from kafka_shim.trace_format.segments import Block

_HINDERED_BY = {
    "producer": (ResourceType.TOPIC, ResourceType.CLUSTER, ResourceType.TRANSACTIONAL_ID),
    "groups": (ResourceType.GROUP, ResourceType.TOPIC),
    "acls": (ResourceType.CLUSTER,),
    "operations": (ResourceType.CLUSTER, ResourceType.TOPIC, ResourceType.GROUP),
}
"""What has to be granted before a client gets to behaviours of an area, the usual one first."""


class Denial(msgspec.Struct, frozen=True):
    """An operation that a principal was denied on a resource."""

    principal: str
    operation: str
    resource_type: str
    resource_name: str

    def __str__(self) -> str:
        if self.resource_name == WILDCARD:
            return f"{self.operation} on any {self.resource_type}"
        return f"{self.operation} on {self.resource_type} {self.resource_name}"


class Decisions:
    """The decisions in a trace; empty if the recorder made none."""

    def __init__(self) -> None:
        self.denied: Counter[Denial] = Counter()
        self._allowed: set[str] = set()  # resource types

    def add_block(self, block: Block) -> None:
        """Process the decisions of a block."""
        principals = {
            connection.number: connection.principal for connection in block.body.connections
        }
        for entry in block.body.entries:
            if not isinstance(entry, Access):
                continue
            resource_type = ResourceType(entry.resource_type).name
            if entry.allowed:
                self._allowed.add(resource_type)
                continue
            denial = Denial(
                principals[entry.connection],
                Operation(entry.operation).name,
                resource_type,
                entry.resource_name,
            )
            self.denied[denial] += entry.count

    @property
    def are_all_denials(self) -> bool:
        """Return whether there are decisions and all are denials."""
        return bool(self.denied) and not self._allowed

    def find_preventing_denial(self, behaviour_id: str) -> Denial | None:
        """Return a denial that prevented a behaviour; None if there is none."""
        area = behaviour_id.partition(".")[0]
        types = [kind.name for kind in _HINDERED_BY.get(area, ()) if kind.name not in self._allowed]
        preventing_denials = (denial for denial in self.denied if denial.resource_type in types)
        return min(
            preventing_denials,
            key=lambda denial: (
                types.index(denial.resource_type),
                denial.resource_name == WILDCARD,
            ),
            default=None,
        )
