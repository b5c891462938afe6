"""Makes scenarios from seeds: every client-facing API of a release, in every version.

The same release and seed give the same scenario. Half of the steps iterate over all (API, version)
pairs, so that consecutive seeds cover them all; the others favour APIs with authorization.
"""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Final

import msgspec

from kafka_shim.client.version_fields import reset_unsupported_fields
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import EncodeError
from tests.recordings.conformance.draw import ADMIN, USERS, Asked, Draw, Made
from tests.recordings.conformance.requests import (
    acls,
    cluster,
    configs,
    groups,
    records,
    share,
    topics,
    transactions,
    users,
)
from tests.recordings.conformance.scenario import ONE_SEGMENT, Scenario, Step

AREAS: Final[tuple[ModuleType, ...]] = (
    *(acls, cluster, configs, groups, records),
    *(share, topics, transactions, users),
)
TEMPLATES: Final[Mapping[ApiKey, Callable[[Draw, int], Asked]]] = {
    key: getattr(area, key.name.lower())
    for key in ApiKey
    for area in AREAS
    if hasattr(area, key.name.lower())
}
"""Functions that make random requests, by API; they are named after their APIs."""

CONTINUED: Final = frozenset(
    {
        ApiKey.FETCH,
        ApiKey.JOIN_GROUP,
        ApiKey.CREATE_TOPICS,
        ApiKey.INIT_PRODUCER_ID,
        ApiKey.CREATE_DELEGATION_TOKEN,
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        ApiKey.SHARE_GROUP_HEARTBEAT,
        ApiKey.STREAMS_GROUP_HEARTBEAT,
    }
)
"""APIs whose responses later requests take values from."""

FAVOURED: Final = frozenset(
    {
        *(ApiKey.METADATA, ApiKey.DESCRIBE_GROUPS, ApiKey.OFFSET_FETCH, ApiKey.INIT_PRODUCER_ID),
        *(ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.DESCRIBE_ACLS, ApiKey.CREATE_ACLS),
        *(ApiKey.DELETE_ACLS, ApiKey.JOIN_GROUP, ApiKey.CREATE_TOPICS),
    }
)
STEPS: Final = 40
_ADMIN_SHARE: Final = 0.06
_UNSERVED_SHARE: Final = 0.015


def scenario(release: str, seed: int) -> Scenario:
    draw = Draw(release, seed)
    starting_acls = [plain(acl) for acl in draw.acls()]
    pairs = pairs_of(draw)
    steps = []
    for number in range(STEPS):
        if number % 2:
            key, version = pairs[(seed * STEPS + number) // 2 % len(pairs)]
        else:
            key, version = _any(draw)
        steps.append(step(draw, key, version, number))
    return Scenario(draw.prefix, draw.topics, draw.groups, starting_acls, steps, ONE_SEGMENT)


def pairs_of(draw: Draw) -> list[tuple[ApiKey, int]]:
    """Return every (API, version) that the release supports, in random order."""
    found = [
        (key, version)
        for key in TEMPLATES
        if key in draw.versions
        for version in range(draw.versions[key][0], draw.versions[key][1] + 1)
    ]
    return sorted(found, key=lambda pair: (pair[0] * 7919 + pair[1] * 104_729) % 65_521)


def step(draw: Draw, key: ApiKey, version: int, number: int) -> Step:
    draw.user = ADMIN if draw.chance(_ADMIN_SHARE) else draw.pick(*USERS)
    for _ in range(100):
        asked = TEMPLATES[key](draw, version)
        reset_unsupported_fields(asked.request, version)
        if is_writable(asked.request, version):
            break
    else:
        raise AssertionError(f"no request of {key.wire_name} can be written in version {version}")
    label = f"{number}" if key in CONTINUED else ""
    if label:
        draw.made.setdefault(key, []).append(Made(label, draw.user, version, asked.request))
    return Step(
        user=draw.user,
        api=key.wire_name,
        version=version,
        request=plain(asked.request),
        label=label,
        takes=dict(asked.takes),
    )


def is_writable(request: Any, version: int) -> bool:
    try:
        codecs.write_request(request, version)
    except EncodeError:
        return False
    return True


def _any(draw: Draw) -> tuple[ApiKey, int]:
    keys = [key for key in TEMPLATES if key in draw.versions]
    key = draw.weighted({key: 4 if key in FAVOURED else 1 for key in keys})
    low, high = draw.versions[key]
    known = codecs.request_versions(key)
    if draw.chance(_UNSERVED_SHARE) and known != (low, high):
        return key, draw.pick(*(v for v in range(known[0], known[1] + 1) if not low <= v <= high))
    return key, draw.number(low, high)


def plain(message: Any) -> Any:
    """Return a message as plain values, without fields at their defaults."""
    if isinstance(message, list):
        return [plain(row) for row in message]
    if not isinstance(message, msgspec.Struct):
        return msgspec.to_builtins(message)
    fresh = type(message)()
    return {
        name: plain(getattr(message, name))
        for name in message.__struct_fields__
        if getattr(message, name) != getattr(fresh, name)
    }
