"""The table of all permission checks of client-facing APIs, in each release.

Each module has a subject. The rows of an API are in the order of the checks. An API without checks
is in `requirement.OPEN_TO_ALL`; one that is in neither is a bug. Nothing else in the project
defines which permissions a request needs. To add a check, add its row, check it in the handler, and
add a request that needs it to `QUESTIONS` of tests/recordings/conformance/matrix.
"""

from collections.abc import Mapping
from functools import cache
from typing import Final

from kafka_shim.authorizer.requirement import BoundRequirement, Requirement, bind_to_release
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
    served_versions,
)

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
