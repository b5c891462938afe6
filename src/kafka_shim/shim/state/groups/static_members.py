"""Groups with static members: an instance keeps its assignment across several member ids
(KIP-345, KIP-848; KIP-1071 since 4.4).
"""

from collections.abc import Callable

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.groups import GroupFacts
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.state.groups.epoch_group import EpochGroup, Member
from kafka_shim.shim.state.groups.reconciliation import LEAVING_FOR_A_WHILE


class StaticMembersGroup(EpochGroup[Member]):
    """An epoch group with static members, by instance id."""

    def __init__(
        self,
        group_id: str,
        session_timeout_ms: Callable[[], int],
        facts: GroupFacts,
        clock: Clock,
    ) -> None:
        super().__init__(group_id, session_timeout_ms, facts, clock)
        self.instances: dict[str, str] = {}

    def released(self, instance_id: str) -> Member | None:
        """Return the former member of an instance; raises Refused if it is still that member."""
        current = self.members.get(self.instances.get(instance_id, ""))
        if current and not current.is_classic and current.epoch != LEAVING_FOR_A_WHILE:
            text = f"instance `{instance_id}` is still in use by `{current.member_id}`"
            raise RequestRejected(ErrorCode.UNRELEASED_INSTANCE_ID, text)
        return current

    def instance(self, instance_id: str, member_id: str) -> Member:
        """Return the member of an instance; raises Refused if it is unknown or another one now."""
        if instance_id not in self.instances:
            raise self.unknown(instance_id)
        current = self.member(self.instances[instance_id])
        if current.member_id != member_id:
            text = f"instance `{instance_id}` belongs to `{current.member_id}` now"
            raise RequestRejected(ErrorCode.FENCED_INSTANCE_ID, text)
        return current

    def leaving(self, member_id: str, instance_id: str | None) -> Member:
        """Return the member that leaves; raises Refused if it does not exist."""
        if instance_id is None:
            return self.member(member_id)
        return self.instance(instance_id, member_id)

    def drop(self, member: Member) -> None:
        super().drop(member)
        if self.instances.get(member.instance_id or "") == member.member_id:
            del self.instances[member.instance_id or ""]
