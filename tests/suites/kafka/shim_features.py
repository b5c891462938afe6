"""Sets the feature levels that a test's cluster is formatted with, after the start of a shim."""

from collections.abc import Mapping

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.features import features_in_release
from kafka_shim.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
)
from tests.recordings.peers.peer import ROOT, ask
from tests.recordings.peers.socket_peer import SocketPeer

_PREFIX = "outside.feature."
_SAFE_DOWNGRADE = 2
_IGNORED = ("metadata.version", "kraft.version")
"""Features to ignore: Kafka's tests use a metadata.version that releases do not offer."""


def lowered(settings: Mapping[str, str], release: str) -> dict[str, int]:
    """Return the features that are lower in the settings than in the release.

    Features that the settings do not name have level 0.
    """
    first = features_in_release(".".join(release.split(".")[:2]))
    levels = {
        feature.name: feature.finalized_level for feature in first if feature.name not in _IGNORED
    }
    wanted = {name: int(settings.get(f"{_PREFIX}{name}", 0)) for name in levels}
    return {name: level for name, level in wanted.items() if level < levels[name]}


def lower(features: Mapping[str, int], release: str, address: str) -> None:
    """Set these levels in a shim, by a listener whose users may do everything."""
    if not features:
        return
    updates = [
        FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=_SAFE_DOWNGRADE)
        for name, level in features.items()
    ]
    peer = SocketPeer(release, address, address)
    try:
        response = ask(
            peer, ROOT, ApiKey.UPDATE_FEATURES, 1, UpdateFeaturesRequest(feature_updates=updates)
        )
    finally:
        peer.close()
    if response.error_code:
        raise RuntimeError(f"UpdateFeatures of {dict(features)}: {response.error_message}")
