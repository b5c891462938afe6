"""Saved plans: the requests as they were reviewed, and checksums of the ACLs before and after."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.authorizer import ALLOW_EVERYONE
from kafka_shim.authorizer.model import Acl, acls_to_objects
from kafka_shim.authorizer.remedy import Step
from kafka_shim.policy.descriptions import (
    resources_text,
    signed_access_change_line,
)
from kafka_shim.policy.formats.json_objects import parse_objects
from kafka_shim.policy.interim_access import InterimChange
from kafka_shim.policy.name_sets import NameSet
from kafka_shim.policy.plan import StepGroup, inverse_requests
from kafka_shim.protocol.enums import ResourceType
from kafka_shim.text.data_text import json_text
from kafka_shim.text.input_files import InputError, read_text_without_bom
from kafka_shim.text.output_paths import check_output_file

FORMAT = "kafka-shim policy plan"
VERSION = 1


class PlanPosition(msgspec.Struct, frozen=True):
    """How many requests of a plan took effect; the next one may have done so in part."""

    done: int
    is_within_request: bool


class SavedPlan(msgspec.Struct, frozen=True):
    """The requests of a plan with the checksums of the ACLs that they lead from and to."""

    release: str
    old_sha256: str
    new_sha256: str
    requests: tuple[StepGroup, ...]
    interim_texts: tuple[str, ...] = ()
    source: str = ""

    def acls_at_step(self, old_acls: Iterable[Acl], count: int) -> set[Acl]:
        """Return the ACLs after the first requests."""
        acls = set(old_acls)
        for request in self.requests[:count]:
            for step in request:
                (acls.add if step.is_addition else acls.discard)(step.acl)
        return acls

    def position(self, cluster_acls: Iterable[Acl]) -> PlanPosition | None:
        """Return the position of a cluster in the plan; None if the cluster is not on its way.

        The ACLs before the plan are those of the cluster without what the first requests did.
        """
        present = set(cluster_acls)
        partly_done = None
        for done in range(len(self.requests) + 1):
            before = self._undo_requests(present, done)
            if acls_sha256(before) != self.old_sha256:
                continue
            if self.acls_at_step(before, done) == present:
                return PlanPosition(done, is_within_request=False)
            if partly_done is None:
                partly_done = PlanPosition(done - 1, is_within_request=True)
        return partly_done

    def _undo_requests(self, present: set[Acl], count: int) -> set[Acl]:
        """Return the ACLs without what the first requests did, also if they did it in part."""
        before = set(present)
        for request in reversed(self.requests[:count]):
            for step in request:
                (before.discard if step.is_addition else before.add)(step.acl)
        return before

    def inverse(self) -> "SavedPlan":
        """Return the plan that undoes this one."""
        return msgspec.structs.replace(
            self,
            old_sha256=self.new_sha256,
            new_sha256=self.old_sha256,
            requests=tuple(inverse_requests(self.requests)),
            source=f"undo of {self.source}",
        )


def plan_object(plan: SavedPlan, interim: Sequence[InterimChange] = ()) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "source": plan.source,
        "release": plan.release,
        "old_acls_sha256": plan.old_sha256,
        "new_acls_sha256": plan.new_sha256,
        "requests": [
            {
                "action": request[0].verb,
                "acls": acls_to_objects(step.acl for step in request),
            }
            for request in plan.requests
        ],
        "interim": [interim_text(each) for each in interim] or list(plan.interim_texts),
    }


def write_plan(path: Path, content: dict[str, Any]) -> None:
    check_output_file(path, rf'\s*\{{\s*"format":\s*"{FORMAT}"')
    path.write_text(json_text(content, indent=1) + "\n", encoding="utf-8")


def read_plan(path: str) -> SavedPlan:
    """Read a saved plan. Raise InputError if it is none."""
    try:
        content = json.loads(read_text_without_bom(path))
        if content.get("format") != FORMAT or content.get("version") != VERSION:
            raise InputError(f"{path}: expected a {FORMAT} of version {VERSION}")
        return SavedPlan(
            content["release"],
            content["old_acls_sha256"],
            content["new_acls_sha256"],
            tuple(_request_of_object(each) for each in content["requests"]),
            tuple(content["interim"]),
            content["source"],
        )
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: not a saved plan: {error}") from error


def _request_of_object(request: dict[str, Any]) -> StepGroup:
    if request["action"] not in ("add", "remove"):
        raise AclTextError(f"unknown action `{request['action']}`")
    is_addition = request["action"] == "add"
    return tuple(Step(is_addition, acl) for acl in parse_objects(request["acls"]))


def interim_text(interim: InterimChange, unit: str = "request") -> str:
    """Return what is lost or opened for how long, in units counted from 1."""
    span = (
        f"after {unit} {interim.first}"
        if interim.first == interim.last
        else f"from {unit} {interim.first} to {interim.last}"
    )
    span = f"{_condition_text(interim.only_if_allow_everyone)}{span}"
    if interim.change is None:
        resource = resources_text(interim.resource_type, interim.names)
        return f"{span}: access to {resource} that both sets allow may be denied (not computed)"
    return f"{span}: {signed_access_change_line(interim.change)}"


def unordered_interim_text(
    only_if_allow_everyone: bool | None, resource_type: ResourceType, names: NameSet | None
) -> str:
    """Return what may change while a tool adds or removes ACLs one by one in an unknown order."""
    resource = resources_text(resource_type, names)
    return (
        f"{_condition_text(only_if_allow_everyone)}until the tool has applied all ACLs: access to"
        f" {resource} may differ from both sets, depending on the tool's order"
    )


def _condition_text(only_if_allow_everyone: bool | None) -> str:
    if only_if_allow_everyone is None:
        return ""
    return f"if {ALLOW_EVERYONE}={str(only_if_allow_everyone).lower()}, "


def saved_plan(
    source: str,
    release: str,
    acls: tuple[Iterable[Acl], Iterable[Acl]],
    requests: Sequence[StepGroup],
    interim: Sequence[InterimChange],
) -> SavedPlan:
    """Return the plan from the first to the second set of ACLs."""
    old_acls, new_acls = acls
    texts = tuple(interim_text(each) for each in interim)
    return SavedPlan(
        release, acls_sha256(old_acls), acls_sha256(new_acls), tuple(requests), texts, source
    )


def acls_sha256(acls: Iterable[Acl]) -> str:
    """Return a checksum of a set of ACLs, which does not depend on order and repetitions."""
    objects = sorted(acls_to_objects(set(acls)), key=lambda each: tuple(each.values()))
    text = json.dumps(objects, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
