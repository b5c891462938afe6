"""The access matrix: the response of a broker if an operation that a row requires is not allowed.

`python -m tests.recordings.conformance.matrix.access_matrix` sends the requests to the shim, as
every release, and writes `tests/golden/access_matrix.txt`. The same requests were recorded on real
brokers by `python -m tests.recordings conformance-matrix RELEASE`; tests compare their responses.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.authorizer.requirement import BoundRequirement, DenialEffect, NeedAlternative
from kafka_shim.authorizer.requirements import requirements_of_served_versions
from kafka_shim.protocol.api_versions import RELEASES, served_versions
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, Permission, ResourceType
from tests.recordings.codes import codes_of
from tests.recordings.conformance.matrix.admin_questions import ADMIN
from tests.recordings.conformance.matrix.data_questions import DATA
from tests.recordings.conformance.matrix.group_questions import GROUPS
from tests.recordings.conformance.matrix.question import Asker, Asking, Names
from tests.recordings.conformance.play import play, shim_of as shim_as
from tests.recordings.conformance.scenario import Scenario, Step

QUESTIONS: Final[dict[str, Asker]] = DATA | ADMIN | GROUPS
UNASKED: Final = {
    "Envelope.cluster": "between brokers and controllers, not for clients",
    "AllocateProducerIds.cluster": "between brokers and controllers, not for clients",
    "InitProducerId.two_phase_commit": "in a version that is unstable in all releases",
}
"""Rows of the table without a question, with the reason."""

USER: Final = "bob"
ALLOWED: Final = "allowed"
GOLDEN: Final = Path(__file__).parents[3] / "golden" / "access_matrix.txt"

Answering = Callable[[Scenario], Any]
"""Returns a broker's response to the last step of a scenario."""


class Asked:
    """A row in one release: the version used, and the outcome of each case."""

    def __init__(self, bound: BoundRequirement, version: int, outcomes: Sequence[str]) -> None:
        self.row = bound.requirement
        self.version = version
        self.outcomes = tuple(outcomes)


class Case(NamedTuple):
    """The needs that are denied, also in words; none if everything is allowed."""

    words: str
    denied: Sequence[NeedAlternative]


class Matrix:
    """All rows of one release; each case of a row is a scenario, called a scene."""

    def __init__(self, release: str) -> None:
        self._release = release
        self._versions = served_versions(release)
        self._rules = acl_rules_of_release(release)
        self._scenes = 0

    def scenes(self) -> Iterator[Scenario]:
        """Yield the scenarios of all cases, for the shim and for real brokers."""
        for bound, version in self._asked():
            for case in _cases(bound):
                yield self._scene(bound, version, case)

    def allowed_scenes(self) -> Iterator[tuple[BoundRequirement, Scenario]]:
        """Yield each row with the scenario in which everything is allowed."""
        for bound, version in self._asked():
            yield bound, self._scene(bound, version, Case("all there", ()))

    def rows(self, response_to: Answering) -> Iterator[Asked]:
        """Yield each row with the outcomes on a broker."""
        for bound, version in self._asked():
            responses = []
            for case in _cases(bound):
                scene = self._scene(bound, version, case)
                responses.append((case.words, _without(response_to(scene), scene.prefix)))
            all_there = responses[0][1]
            told = [f"all there: {_told(all_there)}"]
            told += [
                f"{words}: {_compared(all_there, response)}" for words, response in responses[1:]
            ]
            yield Asked(bound, version, told)

    def _asked(self) -> Iterator[tuple[BoundRequirement, int]]:
        """Yield rows with a check, and the newest version that makes it."""
        for bound in requirements_of_served_versions(self._release):
            low, high = self._versions.get(bound.requirement.api, (1, 0))
            high = min(high, bound.requirement.versions[1])
            if (
                bound.requirement.id not in UNASKED
                and low <= high
                and bound.is_checked_in_version(high)
            ):
                yield bound, high

    def _scene(self, bound: BoundRequirement, version: int, case: Case) -> Scenario:
        self._scenes += 1
        names = Names(f"m{self._scenes}")
        ask = QUESTIONS.get(bound.requirement.id)
        assert ask is not None, f"{bound.requirement.id}: add a question to *_questions.py"
        question = ask(names)
        steps = [self._step(asking) for asking in question.before]
        api = bound.requirement.api.wire_name
        steps.append(Step(USER, api, version, dict(question.request), takes=dict(question.takes)))
        acls = [*self._everything(), *map(_denial, [*question.denied, *case.denied])]
        topics = [names.topic, names.other_topic]
        return Scenario(names.prefix, topics, [names.group], acls, steps)

    def _step(self, asking: Asking) -> Step:
        return Step(
            asking.user or USER,
            asking.api.wire_name,
            min(self._versions[asking.api][1], asking.newest),
            dict(asking.request),
            label=asking.label,
            takes=dict(asking.takes),
        )

    def _everything(self) -> list[dict[str, Any]]:
        kinds = [ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID]
        kinds += [ResourceType.CLUSTER]
        kinds += (
            [ResourceType.DELEGATION_TOKEN] if self._rules.has_delegation_token_resource else []
        )
        kinds += [ResourceType.USER] if self._rules.has_user_resource else []
        return [_acl(kind, Operation.ALL, Permission.ALLOW) for kind in kinds]


def _cases(bound: BoundRequirement) -> Iterator[Case]:
    """Yield the cases of a row: all needs allowed, none allowed, only one of several allowed."""
    needs = _distinct(bound.needs)
    yield Case("all there", ())
    yield Case(f"without {' and '.join(_text(need) for need in needs)}", needs)
    if bound.hidden_as is not None:
        describe = NeedAlternative(Operation.DESCRIBE, needs[0].resource_type)
        yield Case("without DESCRIBE either", [*needs, describe])
    for need in needs if len(needs) > 1 else ():
        yield Case(f"with {_text(need)} alone", [other for other in needs if other is not need])


def shim_of(release: str) -> Answering:
    peer = shim_as(release)
    return lambda scene: play(scene, peer)[-1]


def printed(releases: Sequence[str] = RELEASES) -> str:
    """Return the matrix: each row once for every range of releases with the same outcomes."""
    found: dict[str, list[tuple[str, Asked]]] = {}
    for release in releases:
        for asked in Matrix(release).rows(shim_of(release)):
            found.setdefault(asked.row.id, []).append((release, asked))
    order = [row.requirement.id for row in requirements_of_served_versions(releases[-1])]
    order += [row_id for row_id in found if row_id not in order]
    return "\n".join(line for row_id in order if row_id in found for line in _lines(found[row_id]))


def _lines(rows: list[tuple[str, Asked]]) -> Iterator[str]:
    yield rows[0][1].row.id
    stretch: list[tuple[str, Asked]] = []
    for release, asked in reversed(rows):
        if stretch and stretch[0][1].outcomes != asked.outcomes:
            yield from _stretch_lines(stretch)
            stretch = []
        stretch.append((release, asked))
    yield from _stretch_lines(stretch)
    yield ""


def _stretch_lines(stretch: list[tuple[str, Asked]]) -> Iterator[str]:
    """Yield the lines of a range of releases, which is given from the newest to the oldest."""
    newest, oldest = stretch[0], stretch[-1]
    releases = newest[0] if newest is oldest else f"{oldest[0]}-{newest[0]}"
    versions = sorted({asked.version for _, asked in stretch})
    shown = f"version {versions[0]}"
    if len(versions) > 1:
        shown = f"versions {versions[0]}-{versions[-1]}"
    yield f"  {releases}, {shown}"
    for outcome in newest[1].outcomes:
        yield f"    {outcome}"


def _distinct(needs: Sequence[NeedAlternative]) -> list[NeedAlternative]:
    found: dict[tuple[Operation, ResourceType], NeedAlternative] = {}
    for need in needs:
        found.setdefault((need.operation, need.resource_type), need)
    return list(found.values())


def _text(need: NeedAlternative) -> str:
    return f"{need.operation.name} {need.resource_type.name}"


def _told(response: Any) -> str:
    if _outcome(response):
        return _outcome(response)
    codes = sorted(set(codes_of(response)) - {0})
    return ALLOWED + (f", then {', '.join(map(str, codes))}" if codes else "")


def _compared(all_there: Any, response: Any) -> str:
    """Describe a difference: other error codes, fewer elements, another value, or nothing."""
    if _outcome(response):
        return _outcome(response)
    if response == all_there:
        return ALLOWED
    codes = sorted(set(codes_of(response)) - set(codes_of(all_there)))
    if codes:
        return ", ".join(map(str, codes))
    if _size(response) < _size(all_there):
        return DenialEffect.HIDE.value
    return "another value, no code"


def _outcome(response: Any) -> str:
    """Return the outcome without a response, e.g. `closed`; empty if there was a response."""
    is_none = len(response) == 1 and next(iter(response)) in ("closed", "waits", "silent", "fault")
    return str(next(iter(response))) if is_none else ""


def _size(value: Any) -> int:
    """Count the list elements in a response."""
    if isinstance(value, dict):
        return sum(_size(content) for content in value.values())
    if isinstance(value, list):
        return len(value) + sum(_size(element) for element in value)
    return 0


def _without(value: Any, prefix: str) -> Any:
    """Remove the scene's prefix from all names in a response."""
    if isinstance(value, dict):
        return {key: _without(content, prefix) for key, content in value.items()}
    if isinstance(value, list):
        return [_without(element, prefix) for element in value]
    return value.replace(prefix, "") if isinstance(value, str) else value


def _denial(need: NeedAlternative) -> dict[str, Any]:
    return _acl(need.resource_type, need.operation, Permission.DENY)


def _acl(kind: ResourceType, operation: Operation, permission: int) -> dict[str, Any]:
    return {
        "resource_type": kind,
        "resource_name": CLUSTER_NAME if kind is ResourceType.CLUSTER else "*",
        "principal": f"User:{USER}",
        "host": "*",
        "operation": operation,
        "permission_type": permission,
    }


if __name__ == "__main__":
    GOLDEN.write_text(printed() + "\n")
