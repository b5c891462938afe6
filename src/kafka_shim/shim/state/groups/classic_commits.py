"""Checks whether a request may commit offsets of a classic group."""

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.releases.groups import GroupFacts
from kafka_shim.shim.state.groups.classic_rebalance import ClassicRebalance, ClassicState
from kafka_shim.shim.state.groups.group import CommitIdentity


def commit_error(cycle: ClassicRebalance, facts: GroupFacts, commit: CommitIdentity) -> ErrorCode:
    """Return NONE if offsets may be committed, and then restart the member's session timeout."""
    if commit.is_transactional and not facts.strict_members:
        return _lenient_error(cycle, commit)
    if _is_nobody(cycle, commit):
        return NO_ERROR
    completing = cycle.state is ClassicState.COMPLETING and not commit.is_transactional
    if completing and not facts.commit_checks_member:
        return ErrorCode.REBALANCE_IN_PROGRESS
    error = _membership_error(cycle, commit, strict=facts.strict_members)
    if error is not NO_ERROR:
        return error
    if completing:
        return ErrorCode.REBALANCE_IN_PROGRESS
    if commit.member_id in cycle.roster.members:
        cycle.watch(cycle.roster.members[commit.member_id])
    return NO_ERROR


def _lenient_error(cycle: ClassicRebalance, commit: CommitIdentity) -> ErrorCode:
    """Check only the fields set in a transactional commit, in any state of the group."""
    if commit.member_id or commit.instance_id in cycle.roster.instances:
        error = cycle.roster.error_of(commit.member_id, commit.instance_id, strict=False)
        if error is not NO_ERROR:
            return error
    own = commit.generation_id in (-1, cycle.generation_id)
    return NO_ERROR if own else ErrorCode.ILLEGAL_GENERATION


def _membership_error(
    cycle: ClassicRebalance, commit: CommitIdentity, *, strict: bool
) -> ErrorCode:
    error = cycle.roster.error_of(commit.member_id, commit.instance_id, strict=strict)
    if error is not NO_ERROR:
        return error
    own = commit.generation_id == cycle.generation_id
    return NO_ERROR if own else ErrorCode.ILLEGAL_GENERATION


def _is_nobody(cycle: ClassicRebalance, commit: CommitIdentity) -> bool:
    """Return whether the commit names no member and needs none: in an empty group, or in a
    transaction, which may name no member (before KIP-447 it could not).
    """
    if commit.generation_id >= 0:
        return False
    named = commit.member_id or commit.instance_id is not None
    is_empty = cycle.state is ClassicState.EMPTY
    return is_empty or (commit.is_transactional and not named)
