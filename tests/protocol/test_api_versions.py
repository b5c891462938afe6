"""The versions of APIs by release, compared with the ApiVersions responses of real brokers."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from kafka_shim.protocol.api_versions import (
    RELEASES,
    TELEMETRY,
    advertised_versions,
    highest_unstable_versions,
    parse_minor_release,
    release_index,
    served_versions,
    unsupported_version_message,
)
from kafka_shim.protocol.enums import ApiKey

OBSERVED = Path(__file__).parents[1] / "golden" / "observed_api_versions.json"
"""ApiVersions responses of real brokers: {release: {api: [lowest, highest]}}."""


def table() -> dict[str, dict[str, list[int]]]:
    return {
        release: {
            key.wire_name: list(versions) for key, versions in advertised_versions(release).items()
        }
        for release in RELEASES
    }


def test_the_table_equals_the_responses_of_real_brokers() -> None:
    assert table() == json.loads(OBSERVED.read_text())


def test_every_release_lists_the_apis_in_key_order_with_sound_ranges() -> None:
    for release in RELEASES:
        ranges = advertised_versions(release)
        assert list(ranges) == sorted(ranges)
        assert all(0 <= low <= high for low, high in ranges.values())


def test_highest_versions_never_go_back() -> None:
    highest: dict[ApiKey, int] = {}
    for release in RELEASES:
        for key, (_, high) in advertised_versions(release).items():
            assert high >= highest.get(key, 0), (release, key)
            highest[key] = high


@pytest.mark.parametrize(
    ("release", "api", "versions"),
    [
        ("2.2", ApiKey.METADATA, (0, 7)),
        ("2.3", ApiKey.METADATA, (0, 8)),  # KIP-430
        ("2.0", ApiKey.CREATE_ACLS, (0, 1)),  # KIP-290
        ("4.0", ApiKey.CREATE_ACLS, (1, 3)),  # KIP-896
        ("4.3", ApiKey.DESCRIBE_LOG_DIRS, (1, 5)),
    ],
)
def test_known_turning_points(release: str, api: ApiKey, versions: tuple[int, int]) -> None:
    assert advertised_versions(release)[api] == versions


@pytest.mark.parametrize(
    ("api", "releases"),
    [
        (ApiKey.LEADER_AND_ISR, ("0.11", "2.8")),
        (ApiKey.DESCRIBE_CLUSTER, ("2.8", RELEASES[-1])),
        (ApiKey.SHARE_FETCH, ("4.1", RELEASES[-1])),
    ],
)
def test_an_api_comes_and_goes(api: ApiKey, releases: tuple[str, str]) -> None:
    offered = [release for release in RELEASES if api in advertised_versions(release)]
    assert (offered[0], offered[-1]) == releases


def test_delegation_tokens_are_missing_where_kraft_could_not_do_them_yet() -> None:
    offered = [r for r in RELEASES if ApiKey.CREATE_DELEGATION_TOKEN in advertised_versions(r)]
    first, last = offered.index("2.8"), offered.index("3.6")
    assert last == first + 1


def test_since_4_0_produce_advertises_more_versions_than_it_supports() -> None:
    assert (
        advertised_versions("3.9")[ApiKey.PRODUCE]
        == served_versions("3.9")[ApiKey.PRODUCE]
        == (0, 11)
    )
    assert advertised_versions("4.0")[ApiKey.PRODUCE] == (0, 12)
    assert served_versions("4.0")[ApiKey.PRODUCE] == (3, 12)
    assert served_versions("4.3")[ApiKey.PRODUCE] == (3, 13)


def test_everything_else_is_served_as_advertised() -> None:
    early_kraft = {ApiKey.DESCRIBE_QUORUM, ApiKey.UPDATE_FEATURES, ApiKey.ENVELOPE}
    for release in RELEASES:
        differing = {
            key
            for key, _ in served_versions(release).items() ^ advertised_versions(release).items()
        }
        known = early_kraft if release in ("3.0", "3.1", "3.2") else {ApiKey.PRODUCE}
        assert differing <= known, release


def test_hidden_versions_lie_directly_above_the_advertised_ones() -> None:
    for release in RELEASES:
        for key, version in highest_unstable_versions(release).items():
            above = advertised_versions(release).get(key)
            assert version == (above[1] + 1 if above else 0), (release, key)


@pytest.mark.parametrize(
    ("release", "hidden"),
    [
        ("3.4", {}),
        ("3.5", {ApiKey.ADD_PARTITIONS_TO_TXN: 4, ApiKey.CONSUMER_GROUP_HEARTBEAT: 0}),
        ("3.6", {ApiKey.OFFSET_COMMIT: 9, ApiKey.CONSUMER_GROUP_HEARTBEAT: 0}),
        ("3.8", {}),
        ("4.3", {ApiKey.INIT_PRODUCER_ID: 6}),
    ],
)
def test_hidden_versions_of_a_release(release: str, hidden: dict[ApiKey, int]) -> None:
    assert highest_unstable_versions(release) == hidden


def test_telemetry_is_marked() -> None:
    assert {key for key in advertised_versions("4.3") if key in TELEMETRY} == TELEMETRY
    assert not TELEMETRY & advertised_versions("3.6").keys()


def test_callers_may_change_the_returned_table() -> None:
    advertised_versions("4.3").clear()
    assert advertised_versions("4.3")


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("4.3", "4.3"),
        ("4.3.1", "4.3"),
        ("0.11.0.3", "0.11"),
        ("3", "3.9"),
        ("4", RELEASES[-1]),
        (" 2.8 ", "2.8"),
    ],
)
def test_parse_release(text: str, release: str) -> None:
    assert parse_minor_release(text) == release


@pytest.mark.parametrize("text", ["", ".", "5", "4.30", "3.x", "0.10.2", "v4", "4.", "²", "-1"])
def test_an_unknown_release_is_refused_with_the_known_ones(text: str) -> None:
    with pytest.raises(ValueError, match=r"unknown Kafka release .*: expected one of 0\.11, .*\d$"):
        parse_minor_release(text)


@pytest.mark.parametrize(
    "ask", [advertised_versions, served_versions, highest_unstable_versions, release_index]
)
def test_only_minor_releases_are_looked_up(ask: Callable[[str], object]) -> None:
    with pytest.raises(ValueError, match=r"unknown Kafka release `4\.3\.1`"):
        ask("4.3.1")


@given(st.sampled_from(RELEASES), st.lists(st.integers(0, 99), max_size=2))
def test_patch_numbers_do_not_matter(release: str, patch: list[int]) -> None:
    assert parse_minor_release(".".join([release, *map(str, patch)])) == release


@given(st.text(max_size=8))
def test_any_text_is_a_known_release_or_a_value_error(text: str) -> None:
    with suppress(ValueError):
        assert parse_minor_release(text) in RELEASES


@pytest.mark.parametrize(
    ("key", "version", "text"),
    [
        (32, 0, "version 0: Kafka 4.4 supports versions 1 to 4; Kafka 0.11 to 3.9 support it"),
        (32, 99, "DescribeConfigs (API key 32) version 99: Kafka 4.4 supports versions 1 to 4;"),
        (7, 0, "ControlledShutdown (API key 7) version 0: Kafka 4.4 does not have this API;"),
        (999, 0, "unknown API key 999"),
    ],
)  # fmt: skip
def test_an_unsupported_version_is_named_with_the_releases_that_have_it(
    key: int, version: int, text: str
) -> None:
    assert text in unsupported_version_message(key, version, "4.4")
