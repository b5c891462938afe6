"""What members of the newer protocols are answered."""

import msgspec

from kafka_shim.shim.state.groups.assignors import Assignment


class HeartbeatResult(msgspec.Struct, frozen=True):
    """The answer to a heartbeat; `assignment` is None if it has not changed."""

    member_id: str
    member_epoch: int
    interval_ms: int
    assignment: Assignment | None
