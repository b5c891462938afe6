"""The states of a classic group and the ways from one to the next.

    Empty --join--> PreparingRebalance --all have joined--> CompletingRebalance
    CompletingRebalance --leader syncs--> Stable --join, leave, expiry--> PreparingRebalance
    PreparingRebalance --all have gone--> Empty

Pending responses are sent only from here, and only when a change is complete: a response can make
its connection process the next request for the same group immediately.
"""

from collections import deque
from collections.abc import Callable
from enum import Enum
from functools import partial

import msgspec

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.groups import GroupFacts
from kafka_shim.shim.clock import Clock, Deadline
from kafka_shim.shim.state.groups.classic.classic_members import (
    ClassicMember,
    ClassicMembers,
    JoinResponse,
    SyncResponse,
)
from kafka_shim.shim.state.settings.group_settings import GroupSettings

NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000
"""Session timeout of a member that has not completed a rebalance yet."""
RESPONSES_PER_FLUSH = 250
"""Number of responses sent without yielding to other work; takes about 15 ms."""


class ClassicState(Enum):
    """The states, by the names that DescribeGroups shows."""

    EMPTY = "Empty"
    PREPARING = "PreparingRebalance"
    COMPLETING = "CompletingRebalance"
    STABLE = "Stable"


class ClassicRebalance:
    """State, generation and timers of one group; removes members whose session times out."""

    def __init__(self, settings: GroupSettings, facts: GroupFacts, clock: Clock) -> None:
        self._settings = settings
        self._facts = facts
        self._clock = clock
        self.roster = ClassicMembers()
        self.state = ClassicState.EMPTY
        self.empty_since_ms = clock.now_ms()
        self.generation_id = 0
        self.protocol_name: str | None = None
        self.lacks_common_protocol = (
            False  # 0.11: no generation can begin, as its members have no protocol
        )
        self._phase_timer: Deadline | None = None
        self._initial_delay_left_ms: int | None = None  # during the initial rebalance delay
        self._joined_meanwhile = False
        self._unsynced: set[str] = set()
        self._queued_responses: deque[Callable[[], None]] = deque()
        self._flush_is_scheduled = False
        self.on_settled: Callable[[], None] = lambda: None
        """Called when a generation has its assignment or no members, or a member another id."""

    # members

    def add_joining_member(self, member: ClassicMember, protocol_type: str) -> None:
        """Add a new member, whose JoinGroup is pending, and begin a rebalance."""
        assert member.on_join is not None
        if self.state is ClassicState.PREPARING and self.generation_id == 0:
            self._joined_meanwhile = True
        self.roster.add_member(member, protocol_type)
        member.is_new = not self.lacks_common_protocol
        self._start_session_timer(member, NEW_MEMBER_JOIN_TIMEOUT_MS)
        self.rebalance()

    def remove_departed_member(self, member: ClassicMember) -> None:
        """Remove a member that left or timed out; the others rebalance."""
        unknown = ErrorCode.UNKNOWN_MEMBER_ID
        self.roster.remove_member(member)
        self._unsynced.discard(member.member_id)
        if not self.lacks_common_protocol:
            self.respond_to_join(member, JoinResponse(error=unknown))
        self.respond_to_sync(member, SyncResponse(error=unknown))
        if self.state in (ClassicState.STABLE, ClassicState.COMPLETING):
            self.rebalance()
        else:
            self.complete_join()

    def reserve_member_id(self, member_id: str, session_timeout_ms: int) -> None:
        """Reserve an id returned with MEMBER_ID_REQUIRED, until the session timeout (KIP-394)."""

        def expire_reservation() -> None:
            if self.roster.pending_member_ids.pop(member_id, None) is not None:
                self.complete_join()

        self.roster.pending_member_ids[member_id] = self._start_deadline(
            session_timeout_ms, expire_reservation
        )

    def restart_session_timeout(self, member: ClassicMember) -> None:
        """Restart the session timeout of a member that has sent a request."""
        member.session_ends_ms = self._clock.now_ms() + member.session_timeout_ms
        if member.session_timer is None:
            self._start_session_timer(member, member.session_timeout_ms)
        else:
            member.session_timer.restart(member.session_timeout_ms)

    def _start_session_timer(self, member: ClassicMember, delay_ms: float) -> None:
        """Start the session timer, of few objects: a group may have very many members."""
        member.session_timer = Deadline(self._clock, partial(self._on_session_timeout, member))
        member.session_timer.restart(delay_ms)

    def _on_session_timeout(self, member: ClassicMember) -> None:
        self._remove_overdue_member(member)
        self.flush_responses()

    def remove_overdue_members(self) -> None:
        """Remove members whose session has timed out, even if their timers have not run yet: a busy
        event loop may process requests before timers that are due.
        """
        now_ms = self._clock.now_ms()
        for member in list(self.roster.members.values()):
            if member.session_ends_ms <= now_ms and member.member_id in self.roster.members:
                self._remove_overdue_member(member)
        self.flush_responses()

    def _remove_overdue_member(self, member: ClassicMember) -> None:
        waits = member.on_join is not None or member.on_sync is not None
        if not waits or member.is_new:
            self.remove_departed_member(member)

    # a rebalance

    def rebalance(self) -> None:
        """Start a rebalance unless one is in progress; it may complete immediately."""
        if self.state is ClassicState.PREPARING:
            self.complete_join()
            return
        if self.state is ClassicState.COMPLETING:
            self._abort_syncs()
        is_first = self.state is ClassicState.EMPTY
        self.state = ClassicState.PREPARING
        self._unsynced.clear()
        timeout_ms = self.roster.rebalance_timeout_ms()
        delay_ms = self._settings.initial_rebalance_delay_ms
        if is_first and delay_ms > 0:
            self._joined_meanwhile = False
            self._initial_delay_left_ms = max(timeout_ms - delay_ms, 0)
            self._restart_phase_timer(delay_ms, self._end_initial_delay)
        elif is_first:  # waits for nobody, even if a member id is reserved
            self._begin_generation()
        else:
            self._restart_phase_timer(timeout_ms, self._begin_generation)
            self.complete_join()

    def complete_join(self) -> None:
        """Complete the rebalance if all members joined, except during the initial delay."""
        waits = self.state is not ClassicState.PREPARING or self._initial_delay_left_ms is not None
        if not waits and not self.lacks_common_protocol and self.roster.is_complete():
            self._begin_generation()

    def _end_initial_delay(self) -> None:
        """Extend the initial rebalance delay while new members keep joining (KIP-134).

        Ends when none joined during the last delay, or at the rebalance timeout.
        """
        left_ms = self._initial_delay_left_ms or 0
        if not self._joined_meanwhile or left_ms == 0:
            self._begin_generation()
            return
        delay_ms = min(left_ms, self._settings.initial_rebalance_delay_ms)
        self._joined_meanwhile = False
        self._initial_delay_left_ms = left_ms - delay_ms
        self._restart_phase_timer(delay_ms, self._end_initial_delay)

    def _begin_generation(self) -> None:
        """Begin the next generation with the members that have joined."""
        roster = self.roster
        for member in list(roster.members.values()):
            if member.on_join is None and member.instance_id is None:
                self._unsynced.discard(member.member_id)
                roster.remove_member(member)
        if roster.members and not roster.elect_joined_leader():
            # Only static members are left and none has rejoined: they still may.
            self._restart_phase_timer(roster.rebalance_timeout_ms(), self._begin_generation)
            return
        self._stop_phase_timer()
        self._initial_delay_left_ms = None
        self.generation_id += 1
        if roster.members and not roster.has_member_protocols():
            self._stall_rebalance()
        elif roster.members:
            self._respond_to_joins()
        else:
            self.state = ClassicState.EMPTY
            self.empty_since_ms = self._clock.now_ms()
            self.protocol_name = None
            self.on_settled()

    def _stall_rebalance(self) -> None:
        """Stay in this state for good: pending members get no response and do not time out."""
        self.lacks_common_protocol = True
        for member in self.roster.members.values():
            member.is_new = False

    def _respond_to_joins(self) -> None:
        roster = self.roster
        self.state = ClassicState.COMPLETING
        self.protocol_name = roster.selected_protocol()
        self._unsynced = set(roster.members)
        if self._facts.member_without_sync_is_removed:
            self._restart_phase_timer(roster.rebalance_timeout_ms(), self._expire_pending_syncs)
        for member in list(roster.members.values()):
            member.is_new = False
            self.restart_session_timeout(member)
            self.respond_to_join(member, self.join_result_of(member))

    def join_result_of(self, member: ClassicMember) -> JoinResponse:
        """Return the JoinGroup response for the current generation."""
        roster = self.roster
        leads = member.member_id == roster.leader_id
        return JoinResponse(
            member_id=member.member_id,
            generation_id=self.generation_id,
            protocol_type=roster.protocol_type,
            protocol_name=self.protocol_name,
            leader_id=roster.leader_id,
            members=roster.members_for_leader(self.protocol_name) if leads else (),
        )

    def static_rejoin_result_of(
        self, member: ClassicMember, old_leader_id_unless_skips: str | None
    ) -> JoinResponse:
        """Return the JoinGroup response for a static member that rejoined.

        `old_leader_id_unless_skips` None: it is the leader and need not assign.
        """
        joined = self.join_result_of(member)
        if old_leader_id_unless_skips is None:
            return msgspec.structs.replace(joined, skip_assignment=True)
        return msgspec.structs.replace(joined, leader_id=old_leader_id_unless_skips, members=())

    def _expire_pending_syncs(self) -> None:
        """Remove members that sent no SyncGroup by the rebalance timeout (KAFKA-12890)."""
        for member_id in self._unsynced & set(self.roster.members):
            self.roster.remove_member(self.roster.members[member_id])
        self._unsynced.clear()
        self.rebalance()

    # assignments

    def mark_synced(self, member: ClassicMember) -> None:
        self._unsynced.discard(member.member_id)
        if not self._unsynced:
            self._stop_phase_timer()

    def complete_sync(self, assignments: dict[str, bytes]) -> None:
        """Set the leader's assignments, answer all pending SyncGroups; the group is STABLE."""
        assert self.state is ClassicState.COMPLETING
        self.state = ClassicState.STABLE
        for member in self.roster.members.values():
            member.assignment = assignments.get(member.member_id, b"")
        self.on_settled()
        for member in list(self.roster.members.values()):
            if self.respond_to_sync(member, self.sync_result_of(member)):
                self.restart_session_timeout(member)

    def sync_result_of(self, member: ClassicMember) -> SyncResponse:
        return SyncResponse(
            protocol_type=self.roster.protocol_type,
            protocol_name=self.protocol_name,
            assignment=member.assignment,
        )

    def abort_pending_requests(self) -> None:
        """Answer pending requests with REBALANCE_IN_PROGRESS, as the group changes its protocol."""
        error = ErrorCode.REBALANCE_IN_PROGRESS
        for member in self.roster.members.values():
            self.respond_to_join(member, JoinResponse(error=error, member_id=member.member_id))
            self.respond_to_sync(member, SyncResponse(error=error))

    def _abort_syncs(self) -> None:
        for member in list(self.roster.members.values()):
            member.assignment = b""
            if self.respond_to_sync(member, SyncResponse(error=ErrorCode.REBALANCE_IN_PROGRESS)):
                self.restart_session_timeout(member)

    # responses and timers

    def respond_to_join(self, member: ClassicMember, response: JoinResponse) -> None:
        """Queue the response to the member's pending JoinGroup, if there is one."""
        reply = self.roster.pop_pending_join(member)
        if reply is not None:
            self._queued_responses.append(partial(reply, response))

    def respond_to_sync(self, member: ClassicMember, response: SyncResponse) -> bool:
        """Queue the response to the member's pending SyncGroup; return whether there is one."""
        reply, member.on_sync = member.on_sync, None
        if reply is not None:
            self._queued_responses.append(partial(reply, response))
        return reply is not None

    def flush_responses(self) -> None:
        """Send queued responses, up to RESPONSES_PER_FLUSH; the rest follow after other work. Every
        public change of the group ends with this call.
        """
        for _ in range(RESPONSES_PER_FLUSH):
            if not self._queued_responses:
                return
            self._queued_responses.popleft()()
        if self._queued_responses and not self._flush_is_scheduled:
            self._flush_is_scheduled = True
            self._clock.call_later(0, self._flush_next_batch)

    def _flush_next_batch(self) -> None:
        self._flush_is_scheduled = False
        self.flush_responses()

    def _start_deadline(self, delay_ms: float, then: Callable[[], None]) -> Deadline:
        def fire() -> None:
            then()
            self.flush_responses()

        deadline = Deadline(self._clock, fire)
        deadline.restart(delay_ms)
        return deadline

    def _restart_phase_timer(self, delay_ms: float, then: Callable[[], None]) -> None:
        self._stop_phase_timer()
        self._phase_timer = self._start_deadline(delay_ms, then)

    def _stop_phase_timer(self) -> None:
        if self._phase_timer is not None:
            self._phase_timer.cancel()
            self._phase_timer = None

    def stop_timers(self) -> None:
        """Stop all timers; the group is deleted."""
        self._stop_phase_timer()
        for member in self.roster.members.values():
            member.stop_session_timer()
        for member_id in list(self.roster.pending_member_ids):
            self.roster.drop_pending_member_id(member_id)
