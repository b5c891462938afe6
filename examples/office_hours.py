"""An authorizer of one's own: ACLs decide as in Kafka, but only in office hours, UTC.

PYTHONPATH=examples kafka-shim serve --authorizer office_hours:OfficeHours -c office.hours=8-18
"""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence

from kafka_shim.authorizer.authorizer import AclCreateResult, AclDeleteResult, StandardAuthorizer
from kafka_shim.authorizer.model import Acl, AclFilter, Action, Actor, Decision, DecisionReason
from kafka_shim.protocol.enums import Operation, ResourceType

CLOSED = Decision(allowed=False, reason=DecisionReason.DEFAULT_DENY)


class OfficeHours:
    """All six methods of `kafka_shim.authorizer.authorizer.Authorizer`; most are passed on."""

    def __init__(self) -> None:
        self._inner = StandardAuthorizer()
        self._hours = range(8, 18)

    def configure(self, config: Mapping[str, str]) -> None:
        self._inner.configure(config)
        text = config.get("office.hours", "8-18")
        first, _, last = text.partition("-")
        if not (first.isdigit() and last.isdigit()):
            raise ValueError(f"office.hours is `{text}`; it must be two hours, as in 8-18")
        self._hours = range(int(first), int(last))

    def authorize(self, actor: Actor, action: Action) -> Decision:
        return self._inner.authorize(actor, action) if self._is_open() else CLOSED

    def authorize_by_resource_type(
        self, actor: Actor, operation: Operation, resource_type: ResourceType
    ) -> Decision:
        if not self._is_open():
            return CLOSED
        return self._inner.authorize_by_resource_type(actor, operation, resource_type)

    def create_acls(self, actor: Actor, acls: Sequence[Acl]) -> list[AclCreateResult]:
        return self._inner.create_acls(actor, acls)

    def delete_acls(self, actor: Actor, filters: Sequence[AclFilter]) -> list[AclDeleteResult]:
        return self._inner.delete_acls(actor, filters)

    def acls(self, acl_filter: AclFilter) -> Iterable[Acl]:
        return self._inner.acls(acl_filter)

    def _is_open(self) -> bool:
        return dt.datetime.now(dt.UTC).hour in self._hours
