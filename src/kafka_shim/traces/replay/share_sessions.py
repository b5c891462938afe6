"""The sessions of members of share groups (KIP-932) with the target's brokers.

A session belongs to one broker and one member, and its requests are numbered. Where the target has
other leaders, one recorded session may become several of the target, or several one.
"""

from collections import Counter
from typing import Any

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.traces.replay.target_connection import Address

SHARE_APIS = frozenset({ApiKey.SHARE_FETCH, ApiKey.SHARE_ACKNOWLEDGE})
FIRST_EPOCH, FINAL_EPOCH = 0, -1
_Member = tuple[str, str]


class ShareSessions:
    """The next number of each session, and how many sessions the recorded members have."""

    def __init__(self) -> None:
        self._epochs: dict[_Member, dict[Address, int]] = {}
        self._recorded: Counter[_Member] = Counter()

    def note(self, message: Any) -> None:
        """Note a recorded request, which may begin or end a session."""
        if message.share_session_epoch in (FIRST_EPOCH, FINAL_EPOCH):
            change = 1 if message.share_session_epoch == FIRST_EPOCH else -1
            self._recorded[message.group_id, message.member_id] += change

    def requests(
        self, message: Any, by_leader: dict[Address, Any], default: Address
    ) -> list[tuple[Address, Any]]:
        """Return the requests for each broker: for its partitions, and for its session.

        The last recorded session of a member ends all of its sessions.
        """
        member = message.group_id, message.member_id
        epochs = self._epochs.setdefault(member, {})
        is_final = message.share_session_epoch == FINAL_EPOCH and self._recorded[member] <= 0
        is_read = hasattr(message, "max_records")
        without_topics = msgspec.structs.replace(message, topics=[])
        requests = dict(by_leader)
        if is_final or is_read or not requests:
            requests = dict.fromkeys(epochs, without_topics) | requests
        if is_final:
            del self._epochs[member]
            requests = {each: requests[each] for each in requests if each in epochs}
        found = []
        for address, part in (requests or {default: message}).items():
            epoch = FINAL_EPOCH if is_final else epochs.get(address, FIRST_EPOCH)
            epochs[address] = epoch + 1
            found.append((address, msgspec.structs.replace(part, share_session_epoch=epoch)))
        return found
