"""The table of all permission checks of client-facing APIs, and its rows in one release.

Each module has a subject. The rows of an API are in the order of the checks. An API without checks
is in `OPEN_TO_ALL`; one that is in neither is a bug. Nothing else in the project defines which
permissions a request needs. To add a check, add its row, check it in the handler, and add a request
that needs it to `QUESTIONS` of tests/recordings/conformance/matrix.
"""

from collections.abc import Mapping
from functools import cache
from typing import Final, Protocol

import msgspec

from kafka_shim.authorizer.requirement import (
    WITHOUT_ERROR,
    Denial,
    DenialEffect,
    NeedAlternative,
    Requirement,
)
from kafka_shim.authorizer.requirements import (
    cluster,
    configs,
    groups,
    share_and_streams,
    tokens,
    topics,
    transactions,
)
from kafka_shim.authorizer.requirements.cluster import *  # noqa: F403 - every row by one name here
from kafka_shim.authorizer.requirements.configs import *  # noqa: F403 - as above
from kafka_shim.authorizer.requirements.groups import *  # noqa: F403 - as above
from kafka_shim.authorizer.requirements.share_and_streams import *  # noqa: F403 - as above
from kafka_shim.authorizer.requirements.tokens import *  # noqa: F403 - as above
from kafka_shim.authorizer.requirements.topics import *  # noqa: F403 - as above
from kafka_shim.authorizer.requirements.transactions import *  # noqa: F403 - as above
from kafka_shim.protocol.api_versions import (
    highest_unstable_versions,
    release_index,
    served_versions,
)
from kafka_shim.protocol.enums import ApiKey, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode

_AREAS = (
    cluster,
    configs,
    groups,
    share_and_streams,
    tokens,
    topics,
    transactions,
)

TABLE: Final = tuple(
    sorted(
        (row for area in _AREAS for row in vars(area).values() if isinstance(row, Requirement)),
        key=lambda row: row.api,
    )
)
"""Every row, by API key and then in the order of asking."""

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


@cache
def bound_requirements(release: str) -> dict[Requirement, BoundRequirement]:
    """Return every row in a release. Raise ValueError for an unknown release."""
    return {row: bind_to_release(row, release) for row in TABLE}


@cache
def bound_requirements_by_id(release: str) -> Mapping[str, BoundRequirement]:
    """Return every row in a release by its id. Raise ValueError for an unknown release."""
    return {row.id: bound for row, bound in bound_requirements(release).items()}


@cache
def requirements_of_served_versions(release: str) -> tuple[BoundRequirement, ...]:
    """Return the rows that a client of this release can trigger, in the order of `TABLE`.

    The release must support the API in a version, possibly an unstable one, that makes the check.
    """
    ranges = {key: (low, high) for key, (low, high) in served_versions(release).items()}
    for key, high in highest_unstable_versions(release).items():
        ranges[key] = (ranges[key][0] if key in ranges else high, high)
    return tuple(
        bound
        for row, bound in bound_requirements(release).items()
        if row.api in ranges
        and any(
            bound.is_checked_in_version(version)
            for version in range(ranges[row.api][0], ranges[row.api][1] + 1)
        )
    )
