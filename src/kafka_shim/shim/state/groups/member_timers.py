"""The session and rebalance timeouts of the members of one group."""

from collections.abc import Callable

from kafka_shim.shim.clock import Clock, Deadline, Timer


class MemberTimers:
    """Timers by member id; `expire` is called with the id of a member whose time is over."""

    def __init__(self, clock: Clock, expire: Callable[[str], None]) -> None:
        self._clock = clock
        self._expire = expire
        self._sessions: dict[str, Deadline] = {}
        self._rebalances: dict[str, Timer] = {}

    def restart_session_timeout(self, member_id: str, timeout_ms: float) -> None:
        """Start or restart the session timeout of a member."""
        session = self._sessions.get(member_id)
        if session is None:
            session = Deadline(self._clock, lambda: self._expire(member_id))
            self._sessions[member_id] = session
        session.restart(timeout_ms)

    def start_rebalance_timeout(self, member_id: str, timeout_ms: float) -> None:
        """Start the rebalance timeout of a member, unless it is running."""
        if member_id not in self._rebalances:
            self._rebalances[member_id] = self._clock.call_later(
                timeout_ms, lambda: self._expire(member_id)
            )

    def stop_rebalance_timeout(self, member_id: str) -> None:
        """Stop the rebalance timeout of a member, if it is running."""
        if (timer := self._rebalances.pop(member_id, None)) is not None:
            timer.cancel()

    def stop_timers(self, member_id: str) -> None:
        """Stop both timeouts of a member."""
        self.stop_rebalance_timeout(member_id)
        if (session := self._sessions.pop(member_id, None)) is not None:
            session.cancel()

    def stop_all(self) -> None:
        """Stop the timeouts of all members."""
        for member_id in [*self._sessions, *self._rebalances]:
            self.stop_timers(member_id)
