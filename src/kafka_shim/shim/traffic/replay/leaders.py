"""Groups with another leader at the target than in the recording.

When a leader leaves, a broker chooses the next one by a hash of random ids. The two members then
exchange their ids in the replay, so that the recorded leader stays the leader.
"""

from typing import Any

from kafka_shim.shim.traffic.replay.ids import Ids


class Leaders:
    """Learns from responses to JoinGroup; exchanges the two members in `ids`."""

    def __init__(self, ids: Ids) -> None:
        self._ids = ids
        self._changed: set[tuple[str, int]] = set()

    def has_changed(self, group: str, generation: int) -> bool:
        """Return whether members exchanged their ids in this recorded generation.

        Earlier responses to JoinGroup then do not show the ids.
        """
        return (group, generation) in self._changed

    def learn(self, request: Any, recorded: Any, actual: Any) -> bool:
        """Learn from two responses to the same JoinGroup; return whether another member leads."""
        if not (recorded.leader and actual.leader):
            return False
        if self._ids.members.get(recorded.leader, recorded.leader) == actual.leader:
            return False
        if request.group_instance_id is None and self._ids.change(recorded.leader, actual.leader):
            self._changed.add((request.group_id, recorded.generation_id))
        return True
