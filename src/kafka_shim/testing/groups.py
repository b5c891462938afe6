"""The groups of a broker for tests, and their offsets."""

from typing import Any, Literal, TypedDict, Unpack
from urllib.parse import quote

from kafka_shim.testing.rows import GroupDetailRow, GroupOffsetsRow


class OffsetOptions(TypedDict, total=False):
    """Which offsets are set, and how."""

    topic: str
    partition: int
    time_ms: int
    shift: int
    dry_run: bool


class Groups:
    """The groups of all types."""

    def __init__(self, call_control_api: Any) -> None:
        self._call_control_api = call_control_api

    def list(self) -> list[GroupDetailRow]:
        """Return each group with its members, offsets and lag."""
        return [GroupDetailRow(row) for row in self._call_control_api("GET", "/groups")["groups"]]

    def get(self, group_id: str) -> GroupDetailRow:
        """Return a group. Raise BrokerError if there is none."""
        return GroupDetailRow(self._call_control_api("GET", _path(group_id)))

    def delete(self, group_id: str) -> None:
        """Delete a group without members."""
        self._call_control_api("DELETE", _path(group_id))

    def reset_offsets(
        self,
        group_id: str,
        to: int | Literal["earliest", "latest"] | None = None,
        **options: Unpack[OffsetOptions],
    ) -> GroupOffsetsRow:
        """Set the offsets of a group without members. `to` is an offset, `earliest` or `latest`;
        `time_ms` selects the first record at or after this time; `shift` is added to the offsets.
        The options `topic` and `partition` select partitions. With `dry_run`, only return what
        would change.
        """
        body = {"to": to, **options}
        return GroupOffsetsRow(self._call_control_api("POST", f"{_path(group_id)}/offsets", body))


def _path(group_id: str) -> str:
    return f"/groups/{quote(group_id, safe='')}"
