"""Groups that another member leads at the target than in the recording.

When its leader leaves, a broker takes the next by the hash of its random id. The two members then
change their ids in the replay: the recorded leader stays the leader.
"""

from typing import Any

from kafka_shim.shim.traffic.replay.ids import Ids


class Leaders:
    """Fed with answers to JoinGroup; `ids` are those that the two members change in."""

    def __init__(self, ids: Ids) -> None:
        self._ids = ids
        self._changed: set[tuple[str, int]] = set()

    def has_changed(self, group: str, generation: int) -> bool:
        """Whether members changed their ids in this recorded generation.

        Earlier answers to JoinGroup then do not tell the ids.
        """
        return (group, generation) in self._changed

    def learn(self, request: Any, recorded: Any, actual: Any) -> bool:
        """Take two answers to the same JoinGroup; whether another member leads."""
        if not (recorded.leader and actual.leader):
            return False
        if self._ids.members.get(recorded.leader, recorded.leader) == actual.leader:
            return False
        if request.group_instance_id is None and self._ids.change(recorded.leader, actual.leader):
            self._changed.add((request.group_id, recorded.generation_id))
        return True
