"""A real broker's answers beside the shim's."""

from collections.abc import Sequence
from typing import Any

from tests.recordings.store import Steps


def differences(recorded: Steps, played: Steps, unread: Sequence[Any] = ()) -> list[Any]:
    """Return the steps with other answers; all of them where the recording has other steps.

    A recorded answer in `unread` stands for one that could not be read, which any answer equals.
    """
    if [label for label, _ in played] != [label for label, _ in recorded]:
        return ["the recording has other steps", *played]
    return [
        (label, {"real": real, "ours": ours})
        for (label, real), (_, ours) in zip(recorded, played, strict=True)
        if real != ours and real not in unread
    ]
