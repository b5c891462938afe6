"""The permission checks of an API as data: a `Requirement` for each check of a broker.

A requirement names operation and resources, the releases and API versions that check it, and the
error of a denial. The rest of the response is code in the API's handler. The rows are in
`kafka_shim.authorizer.requirements`, which also reduces them to one release.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final, TypeAlias

import msgspec

from kafka_shim.protocol.enums import CLUSTER_NAME, ApiKey, Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode

NEWEST: Final = 32767
"""As the end of a range of API versions: whatever comes."""

VersionRange: TypeAlias = tuple[int, int]


class DenialEffect(Enum):
    """Where a denial shows in the response."""

    TOP = "the response's code"
    EACH = "each element's code"
    BOTH = "the response's code and each element's"
    HIDE = "left out"
    VALUE = "a separate field"
    STATUS = "a status, without which the request's purpose fails"
    EMPTY = "an empty response without an error"


WITHOUT_ERROR: Final = frozenset({DenialEffect.HIDE, DenialEffect.VALUE, DenialEffect.EMPTY})
"""Effects of a denial that fail neither a request nor an element of it."""


class NeedAlternative(msgspec.Struct, frozen=True):
    """One way to meet a requirement: this operation on the named resource of this type.

    `any_name`: on at least one resource of the type, with any name (KIP-679).
    `names`: the source of the name, if it differs from the requirement's.
    `log_if_denied`: False for a probe, whose denial the audit log has only at trace level.
    `until` is the first release without it.
    """

    operation: Operation
    resource_type: ResourceType
    since: str | None = None
    until: str | None = None
    any_name: bool = False
    source_of_names: tuple[str, ...] = ()
    log_if_denied: bool = True


class Denial(msgspec.Struct, frozen=True):
    """The error of a denial and its place, in some releases and API versions.

    The error is NONE if a denied resource is left out, or only marked by a field.
    """

    error: ErrorCode
    effect: DenialEffect
    versions: VersionRange = (0, NEWEST)
    since: str | None = None
    until: str | None = None

    @property
    def error_in_response(self) -> ErrorCode:
        """The error that the client gets: NONE if the response is empty."""
        return ErrorCode.NONE if self.effect is DenialEffect.EMPTY else self.error


class ReportedMissing(msgspec.Struct, frozen=True):
    """Before `until`, a resource without DESCRIBE is reported as missing.

    `before_operation_check`: DESCRIBE is checked before the operation; otherwise only after that
    was denied.
    """

    error: ErrorCode
    until: str
    before_operation_check: bool = True


_DEFAULT_NAMES: Mapping[ResourceType, tuple[str, ...]] = {
    ResourceType.GROUP: ("group_id",),
    ResourceType.TRANSACTIONAL_ID: ("transactional_id",),
}
"""Paths to the names of resources; other checks are about the cluster by default."""


class Requirement(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A row of the table; rows are singletons, compared and hashed by identity.

    `name` is unique within the API; by default it is the resource type of the last need. The needs
    in `any_of` are checked from left to right until one is met. `names` are paths to the resource
    names in the request, with Kafka's field names, such as `topics[].name`. A path to a topic id
    stands for the topic's name, `a:b` joins two fields with a colon, and `response.` begins a path
    to names that the broker found. The name of the CLUSTER is always `kafka-cluster`; that of a
    group or a transactional id is by default in the field of the request that is called so. The
    check is made in `versions` of the API, from release `since` to before `until`. `when` is a
    further condition in words; `source` is the class of Kafka that makes the check.
    """

    api: ApiKey
    any_of: tuple[NeedAlternative, ...]
    denied: tuple[Denial, ...]
    name: str = ""
    names: tuple[str, ...] = ()
    hidden: ReportedMissing | None = None
    versions: VersionRange = (0, NEWEST)
    since: str | None = None
    until: str | None = None
    when: str = ""
    kip: int | None = None
    source: str = "KafkaApis"
    note: str = ""

    def __post_init__(self) -> None:
        resource_type = self.any_of[-1].resource_type
        if not self.name:
            msgspec.structs.force_setattr(self, "name", resource_type.name.lower())
        if not self.names:
            msgspec.structs.force_setattr(
                self, "names", _DEFAULT_NAMES.get(resource_type, (CLUSTER_NAME,))
            )

    @property
    def can_be_error(self) -> bool:
        """Return whether a denial shows as an error in some release and version."""
        return any(denial.effect not in WITHOUT_ERROR for denial in self.denied)

    @property
    def id(self) -> str:
        """The API's name in Kafka and the row's name: `OffsetFetch.group`."""
        return f"{self.api.wire_name}.{self.name}"
