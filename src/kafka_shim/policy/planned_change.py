"""The change from one policy to another: its steps, its requests, and the access in between."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import msgspec

from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.remedy import Step
from kafka_shim.policy.interim_access import InterimChange, interim_changes_in_either_mode
from kafka_shim.policy.plan import (
    REQUEST_STEPS_MAX,
    StepGroup,
    pack_requests,
    planned_groups,
)
from kafka_shim.policy.plan_file import SavedPlan, saved_plan
from kafka_shim.policy.policy import Policy
from kafka_shim.protocol.enums import Operation
from kafka_shim.text.message_text import count_with_noun

COMMANDS = "commands"
"""The format of plans for kafka-acls."""


class PlannedChange(msgspec.Struct, frozen=True):
    """The steps in groups that belong together, the requests, and what changes in between."""

    groups: list[StepGroup]
    saved: SavedPlan
    old_acl_places: Mapping[Acl, str]
    interim_between_requests: Sequence[InterimChange]
    interim_between_commands: Sequence[InterimChange]
    """Of a declarative tool: between single ACLs, whose order is the tool's."""

    @property
    def steps(self) -> list[Step]:
        return [step for group in self.groups for step in group]

    @property
    def counts_text(self) -> str:
        """Return text such as `2 ACLs to add, 1 to remove`."""
        added = sum(step.is_addition for step in self.steps)
        return f"{count_with_noun(added, 'ACL')} to add, {len(self.steps) - added} to remove"


def plan_change(
    old: Policy,
    new: Policy,
    old_acl_places: Mapping[Acl, str],
    acl_format: str | None,
    report_progress: Callable[[], object],
) -> PlannedChange:
    """Return the change with what is lost or opened between its requests.

    With the format in which it is printed, also between its commands.
    """
    release = old.release
    steps_max = acl_rules_of_release(release).batch_limit or REQUEST_STEPS_MAX
    groups = planned_groups(old.acls, new.acls, release)
    requests = pack_requests(groups, steps_max)
    sides = (old.authorizers_by_possible_mode(), new.authorizers_by_possible_mode())
    interim = interim_changes_in_either_mode(*sides, requests, release, report_progress)
    between_commands: Sequence[InterimChange] = ()
    if acl_format is not None:
        units: list[Sequence[Step]] = (
            [command for _, command in steps_by_command(groups)]
            if acl_format == COMMANDS
            else [(step,) for group in groups for step in group]
        )
        between_commands = interim_changes_in_either_mode(*sides, units, release, report_progress)
    saved = saved_plan(old.source, release, (old.acls, new.acls), requests, interim)
    return PlannedChange(groups, saved, old_acl_places, interim, between_commands)


def steps_by_command(groups: Iterable[Sequence[Step]]) -> Iterator[tuple[bool, list[Step]]]:
    """Yield whether a kafka-acls command adds, and its steps, which differ in operation only."""
    for steps in groups:
        for (is_addition, _), command in groupby(steps, key=_command_group_key):
            yield is_addition, list(command)


def _command_group_key(step: Step) -> tuple[bool, object]:
    return step.is_addition, msgspec.structs.replace(step.acl, operation=Operation.ALL)
