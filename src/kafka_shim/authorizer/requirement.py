"""The permission checks of an API as data: a `Requirement` for each check of a broker.

A requirement names operation and resources, the releases and API versions that check it, and the
error of a denial. The rest of the response is code in the API's handler. The rows are in
`kafka_shim.authorizer.requirements`, in modules that a broker imports with its handlers.
`bind_to_release` reduces a row to one release.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final, Protocol, TypeAlias

import msgspec

from kafka_shim.protocol.api_versions import release_index
from kafka_shim.protocol.enums import CLUSTER_NAME, ApiKey, Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode

NEWEST: Final = 32767
"""As the end of a range of API versions: whatever comes."""

VersionRange: TypeAlias = tuple[int, int]

OPEN_TO_ALL: Final[dict[ApiKey, str]] = {
    ApiKey.SASL_HANDSHAKE: "part of authentication",
    ApiKey.API_VERSIONS: "answered even before authentication",
    ApiKey.SASL_AUTHENTICATE: "part of authentication",
    ApiKey.CREATE_DELEGATION_TOKEN: "a token for oneself needs no ACL",
    ApiKey.RENEW_DELEGATION_TOKEN: "only the token's owner and renewers may send it",
    ApiKey.EXPIRE_DELEGATION_TOKEN: "only the token's owner and renewers may send it",
    ApiKey.DESCRIBE_DELEGATION_TOKEN: "every client sees its own tokens",
    ApiKey.DESCRIBE_CLUSTER: "brokers, controller and cluster id are public",
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: "every client may send metrics if the broker collects them",
    ApiKey.PUSH_TELEMETRY: "every client may send metrics if the broker collects them",
}
"""APIs that may respond without a permission check, and why. All others must make one."""


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


class BoundRequirement(msgspec.Struct, frozen=True, eq=False):
    """A requirement in one release.

    `needs` is empty if the release does not make the check. `error` is the code of a denial, the
    same in all API versions. `hidden_as` is the code for a resource without DESCRIBE, if that is
    hidden; `describe_first`: this is checked before the operation.
    `has_named_resources`: there is a check, and it is not of the cluster.
    """

    requirement: Requirement
    needs: tuple[NeedAlternative, ...]
    denials: tuple[Denial, ...]
    error: ErrorCode
    hidden_as: ErrorCode | None
    describe_first: bool
    has_named_resources: bool

    def is_checked_in_version(self, version: int) -> bool:
        """Return whether this version of the API makes the check."""
        low, high = self.requirement.versions
        return bool(self.needs) and low <= version <= high

    @property
    def denial_is_error_in_some_version(self) -> bool:
        """Return whether a denial shows as an error or a status in any version."""
        return any(denial.effect not in WITHOUT_ERROR for denial in self.denials)

    def effect_in_version(self, version: int) -> DenialEffect:
        """Return where a denial appears in this version. Raise KeyError if it does not make the
        check.
        """
        for denial in self.denials:
            if denial.versions[0] <= version <= denial.versions[1]:
                return denial.effect
        raise KeyError(f"{self.requirement.id} is not asked in version {version}")


class _WithReleaseRange(Protocol):
    @property
    def since(self) -> str | None: ...
    @property
    def until(self) -> str | None: ...


def is_in_release(dated: _WithReleaseRange, release: str) -> bool:
    """Return whether a row, a need or a denial is valid in a release ("4.3")."""
    at = release_index(release)
    return (dated.since is None or release_index(dated.since) <= at) and (
        dated.until is None or at < release_index(dated.until)
    )


def bind_to_release(requirement: Requirement, release: str) -> BoundRequirement:
    """Return a row in a release. Raise ValueError for an unknown release."""
    needs = (
        tuple(n for n in requirement.any_of if is_in_release(n, release))
        if is_in_release(requirement, release)
        else ()
    )
    denials = tuple(d for d in requirement.denied if is_in_release(d, release)) if needs else ()
    is_hidden = (
        bool(needs)
        and requirement.hidden is not None
        and release_index(release) < release_index(requirement.hidden.until)
    )
    return BoundRequirement(
        requirement=requirement,
        needs=needs,
        denials=denials,
        error=denials[0].error if denials else ErrorCode.NONE,
        hidden_as=requirement.hidden.error if requirement.hidden and is_hidden else None,
        describe_first=bool(
            requirement.hidden and is_hidden and requirement.hidden.before_operation_check
        ),
        has_named_resources=bool(needs)
        and all(n.resource_type != ResourceType.CLUSTER for n in needs),
    )
