"""An extreme value in a request neither blocks other clients nor makes the broker fail.

Each number of each request is set to the greatest and the least value of its type, to 0, -1 and to
plausible large values; texts and bytes to long ones. The request goes to a cluster in use. It, the
requests that follow and the timers that fire in the next eleven minutes must take at most 250 ms of
processor time each, and little memory.
"""

import gc
import math
from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks.arrays.cluster import advertised
from benchmarks.arrays.messages import Case
from kafka_shim.protocol.codec.message_spec import load_message_spec
from kafka_shim.protocol.enums import ApiKey
from tests.shim.request.busy_cluster import NONE, Values
from tests.shim.request.consequences import Outcome
from tests.shim.request.extremes import FEW, Extreme, numbers, settings, texts

NEWEST = ""
CLUSTERS_AT_ONCE = 20
"""After so many clusters, garbage is collected."""
STATES = "topics.partitions.state_batches."
QUOTA = "entries.ops.value"
ADMIN: Values = {"entity_type": "user", "entity_name": "admin"}
KNOWN: tuple[tuple[str, ApiKey, str, Any, Values], ...] = (
    (NEWEST, ApiKey.CREATE_TOPICS, "topics.num_partitions", 65_535, NONE),
    (NEWEST, ApiKey.WRITE_SHARE_GROUP_STATE, f"{STATES}last_offset", 2**63 - 1, NONE),
    (NEWEST, ApiKey.WRITE_SHARE_GROUP_STATE, f"{STATES}delivery_state", 127, NONE),
    (NEWEST, ApiKey.WRITE_SHARE_GROUP_STATE, f"{STATES}delivery_count", 32_767, NONE),
    ("3.6", ApiKey.PRODUCE, "records.base_timestamp", 2**63 - 1, NONE),
    ("4.3", ApiKey.ALTER_CLIENT_QUOTAS, QUOTA, math.nan, {**ADMIN, "key": "producer_byte_rate"}),
    ("4.3", ApiKey.ALTER_CLIENT_QUOTAS, QUOTA, math.nan, {**ADMIN, "key": "consumer_byte_rate"}),
    ("4.3", ApiKey.ALTER_CLIENT_QUOTAS, QUOTA, math.nan, {**ADMIN, "key": "request_percentage"}),
)
"""Values that once blocked the loop, filled the memory, or made a handler fail."""


@pytest.fixture(autouse=True)
def no_collections() -> Iterator[None]:
    """Collect garbage only between clusters, as it is not measured here."""
    gc.collect()
    gc.freeze()
    gc.disable()
    yield
    gc.enable()
    gc.unfreeze()


def check(release: str, authorizer: str, extreme: Extreme) -> None:
    outcome = Outcome(release, authorizer, extreme)
    if outcome.is_slow:  # it may have imported modules, or the machine was busy
        outcome = Outcome(release, authorizer, extreme)
    assert not outcome.what, f"{extreme.name}, authorizer {authorizer}: {outcome.what}"


def cases(release: str) -> Iterator[tuple[str, Extreme]]:
    """Yield each value with an authorizer; with both and more values for an API's last version."""
    for api, (first, last) in sorted(advertised(release).items()):
        for version in range(
            max(first, load_message_spec(f"{api.wire_name}Request").versions.low), last
        ):
            for extreme in numbers(api, version, FEW):
                yield "standard", extreme
        for extreme in numbers(api, last):
            yield "standard", extreme
            yield "none", extreme
        for extreme in texts(api, last):
            yield "standard", extreme
        if api is ApiKey.ALTER_CONFIGS:
            for extreme in settings(release, api, last):
                yield "standard", extreme


@pytest.mark.parametrize(("release", "api", "path", "value", "more"), KNOWN)
def test_values_that_once_blocked_or_broke_the_broker_do_not(
    release: str, api: ApiKey, path: str, value: Any, more: Values
) -> None:
    case = Case(api, advertised(release)[api][1], tuple(path.split(".")), is_equal=False)
    check(release, "standard", Extreme(case, value, more))


@pytest.mark.heavy
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("release", ["0.11", "2.4", "2.8", "3.6", "4.0", NEWEST])
def test_no_value_of_any_field_blocks_the_loop(release: str) -> None:
    for number, (authorizer, extreme) in enumerate(cases(release)):
        if number % CLUSTERS_AT_ONCE == 0:
            gc.collect()
        check(release, authorizer, extreme)
