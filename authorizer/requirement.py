"""What an API requires of its caller, as data: one `Requirement` a question that a broker asks.

A requirement says which operation on which resources, in which releases and API versions, and
which error a denial is. What the rest of the answer looks like then is code in the API's handler.
The rows are in `kafka_shim.authorizer.requirements`; `bind` leaves of a row what one release does.
"""

from enum import Enum
from typing import Final, Protocol, TypeAlias

import msgspec

from kafka_shim.protocol.api_versions import release_index
from kafka_shim.protocol.enums import CLUSTER_NAME, ApiKey, Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode

NEWEST: Final = 32767
"""As the end of a range of API versions: whatever comes."""

VersionRange: TypeAlias = tuple[int, int]


class Effect(Enum):
    """Where a denial shows in the response."""

    TOP = "the response's code"
    EACH = "each element's code"
    BOTH = "the response's code and each element's"
    HIDE = "left out"
    VALUE = "a field of its own"
    EMPTY = "an empty response, no code"


class Need(msgspec.Struct, frozen=True):
    """One way to meet a requirement: this operation on the named resource of this type.

    `any_name`: on at least one resource of the type, whatever its name (KIP-679).
    `names`: where the name comes from, if elsewhere than the requirement's.
    `log_if_denied`: False for a mere probe, whose denial the audit log shows at trace level.
    `until` is the first release without it.
    """

    operation: Operation
    resource_type: ResourceType
    since: str | None = None
    until: str | None = None
    any_name: bool = False
    names: tuple[str, ...] = ()
    log_if_denied: bool = True


class Denial(msgspec.Struct, frozen=True):
    """The error of a denial and where it shows, in some releases and API versions.

    The error is NONE where a denied resource is left out or flagged by a value alone.
    """

    error: ErrorCode
    effect: Effect
    versions: VersionRange = (0, NEWEST)
    since: str | None = None
    until: str | None = None


class Hidden(msgspec.Struct, frozen=True):
    """Before `until`, a resource that the caller may not DESCRIBE looks as if it did not exist.

    `first`: DESCRIBE is asked before the operation; otherwise only once that was denied.
    """

    error: ErrorCode
    until: str
    first: bool = True


class Requirement(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A row of the table. Rows are singletons, compared and hashed by identity.

    `name` is unique within the API. `any_of` is asked from left to right and the first need that
    is met suffices. `names` are paths to the resource names in the request in Kafka's names:
    `topics[].name`; a path to a topic id means the topic's name; `a:b` joins two fields with a
    colon; `response.` leads to names found by the broker. The name of the CLUSTER is always
    `kafka-cluster`. `versions` are the API versions in which it is asked, `since` and `until`
    (exclusive) the releases. `when` is a further condition in words, `source` the class of Kafka
    that asks.
    """

    api: ApiKey
    name: str
    any_of: tuple[Need, ...]
    denied: tuple[Denial, ...]
    names: tuple[str, ...] = (CLUSTER_NAME,)
    hidden: Hidden | None = None
    versions: VersionRange = (0, NEWEST)
    since: str | None = None
    until: str | None = None
    when: str = ""
    kip: int | None = None
    source: str = "KafkaApis"
    note: str = ""

    @property
    def id(self) -> str:
        """Kafka's name of the API and the row's own: `OffsetFetch.group`."""
        return f"{self.api.wire_name}.{self.name}"


class BoundRequirement(msgspec.Struct, frozen=True, eq=False):
    """What one release makes of a requirement.

    `needs` is empty where the release asks nothing. `error` is the code of a denial, the same in
    all API versions; `hidden_as` the one for a resource that may not be described, if that is
    hidden, and `describe_first` says that it is asked before the operation.
    """

    row: Requirement
    needs: tuple[Need, ...]
    denials: tuple[Denial, ...]
    error: ErrorCode
    hidden_as: ErrorCode | None
    describe_first: bool

    def asks(self, version: int) -> bool:
        """Whether anything is asked in this version of the API."""
        low, high = self.row.versions
        return bool(self.needs) and low <= version <= high

    def effect(self, version: int) -> Effect:
        """Return where a denial shows in this version of the API; KeyError if nothing is asked."""
        for denial in self.denials:
            if denial.versions[0] <= version <= denial.versions[1]:
                return denial.effect
        raise KeyError(f"{self.row.id} is not asked in version {version}")


class _Dated(Protocol):
    @property
    def since(self) -> str | None: ...
    @property
    def until(self) -> str | None: ...


def holds(dated: _Dated, release: str) -> bool:
    """Whether a row, a need or a denial is valid in a release ("4.3")."""
    at = release_index(release)
    return (dated.since is None or release_index(dated.since) <= at) and (
        dated.until is None or at < release_index(dated.until)
    )


def bind(row: Requirement, release: str) -> BoundRequirement:
    """Return what is left of a row in a release; ValueError if there is no such release."""
    needs = tuple(n for n in row.any_of if holds(n, release)) if holds(row, release) else ()
    denials = tuple(d for d in row.denied if holds(d, release)) if needs else ()
    is_hidden = (
        bool(needs)
        and row.hidden is not None
        and release_index(release) < release_index(row.hidden.until)
    )
    return BoundRequirement(
        row=row,
        needs=needs,
        denials=denials,
        error=denials[0].error if denials else ErrorCode.NONE,
        hidden_as=row.hidden.error if row.hidden and is_hidden else None,
        describe_first=bool(row.hidden and is_hidden and row.hidden.first),
    )
