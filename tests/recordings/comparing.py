"""Compares the responses of a real broker with the shim's."""

from typing import Any

from tests.recordings.peers.peer import UNREADABLE
from tests.recordings.recorder import Kind
from tests.recordings.store import Steps

NOT_WRITTEN = ("TransactionLog", "ShareSnapshot", "ShareUpdate", "ShareGroup", "StreamsGroup")
"""What the names of keys begin with whose records the shim does not write."""


def recorded_pairs(kind: Kind) -> list[tuple[str, str]]:
    """Return the release and the name of each scenario that a real broker has played."""
    return [
        (release, name)
        for release in kind.recordings.releases()
        for name in kind.recordings.names(release)
    ]


def differing(kind: Kind, release: str, name: str) -> list[Any]:
    """Return the steps of a scenario in which the shim differs from the real broker."""
    shim = kind.shim(release, kind.mode, kind.settings_of(release, name))
    return differences(kind.recordings.steps(release, name), kind.play(name, shim))


def differences(recorded: Steps, played: Steps) -> list[Any]:
    """Return the steps with different responses; all steps if the recording has other steps.

    A recorded response that could not be decoded equals any response. Records of coordinators that
    the shim does not write (DEVIATION) do not count.
    """
    if [label for label, _ in played] != [label for label, _ in recorded]:
        return ["the recording has other steps", *played]
    return [
        (label, {"real": real, "ours": ours})
        for (label, real), (_, ours) in zip(recorded, played, strict=True)
        if real != UNREADABLE and written_records(real) != ours
    ]


def written_records(response: Any) -> Any:
    """Return recorded rows of an internal topic without those that the shim does not write."""
    if not isinstance(response, list):
        return response
    return [
        row
        for row in response
        if not (
            isinstance(row, dict)
            and isinstance(row.get("key"), dict)
            and str(row["key"].get("is")).startswith(NOT_WRITTEN)
        )
    ]
