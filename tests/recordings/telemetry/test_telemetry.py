"""Client metrics (KIP-714) behave as in the recordings of real brokers."""

from contextlib import nullcontext

import pytest

from kafka_shim.protocol.api_versions import TELEMETRY, served_versions
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.protocol.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
)
from kafka_shim.shim.errors import ConfigError, RequestRejected
from kafka_shim.shim.state.settings.static_settings import CLIENT_TELEMETRY
from kafka_shim.shim.state.telemetry import ReceivedPush, TelemetryClient
from tests.recordings.comparing import differing, recorded_pairs
from tests.recordings.telemetry import recording
from tests.shim.play import Stage


@pytest.mark.parametrize(("release", "name"), recorded_pairs(recording.KIND))
def test_responses_and_pushes_equal_those_of_the_real_broker(release: str, name: str) -> None:
    assert not differing(recording.KIND, release, name)


@pytest.mark.parametrize("release", ["3.6", "3.7", "4.3"])
def test_telemetry_apis_are_listed_only_if_enabled(release: str) -> None:
    """ApiVersions lists the APIs only if telemetry is enabled; requests are answered anyway."""
    for setting in ("false", "true"):
        stage = Stage(release, properties={CLIENT_TELEMETRY: setting})
        response = stage.ask(ApiKey.API_VERSIONS, 3, ApiVersionsRequest("test", "1"))
        told = {api_key.api_key for api_key in response.api_keys} & TELEMETRY
        knows = TELEMETRY & served_versions(release).keys()
        assert told == (knows if setting == "true" else set())
        for key in TELEMETRY:
            assert (stage.dispatcher.apis.find_api(key, 0) is not None) == bool(knows)


def test_a_setting_that_is_neither_true_nor_false_is_an_error() -> None:
    with pytest.raises(ConfigError, match="`maybe` is neither true nor false"):
        Stage(properties={CLIENT_TELEMETRY: "maybe"})


def test_the_least_recently_used_client_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka_shim.shim.state.telemetry.INSTANCES_MAX", 2)
    stage = Stage("4.3")

    def asked(number: int) -> int:
        request = GetTelemetrySubscriptionsRequest(client_instance_id=bytes([number]) * 16)
        code: int = stage.ask(ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, 0, request).error_code
        return code

    assert [asked(number) for number in (1, 2, 1, 3, 1, 2)] == [0, 0, 89, 0, 89, 0]


def test_a_client_without_pushes_for_three_intervals_is_removed() -> None:
    """A real broker removed a client with an interval of 25 seconds after 73 to 77 seconds."""
    stage = Stage("4.3")
    stage.cluster.configs.client_metrics["one"] = {"interval.ms": "25000"}
    telemetry = stage.cluster.telemetry[1]
    client = TelemetryClient("User:a", "id", "a", "test", "1", "127.0.0.1", "5")
    ends = ReceivedPush(client, is_terminating=True, compression=0, metrics=b"last")
    goes_on = ReceivedPush(client, is_terminating=False, compression=0, metrics=b"more")
    for seconds, is_known in ((73, True), (77, False)):
        instance_id = bytes([seconds]) * 16
        number = telemetry.get_subscription(instance_id, client).subscription_id
        telemetry.accept_push(instance_id, number, ends)
        stage.clock.advance(seconds * 1000)
        with pytest.raises(RequestRejected) if is_known else nullcontext():
            telemetry.accept_push(instance_id, number, goes_on)


def test_recordings_reach_from_the_first_release_to_the_newest() -> None:
    assert {"3.7.2", "3.9.2", "4.3.1"} <= set(recording.KIND.recordings.releases())
