"""Every remedy is applied, and its request repeated: it succeeds, and with less it does not."""

import random
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import combinations
from typing import Any

import pytest

from kafka_shim.authorizer.acl_rules import AclRules, acl_rules_of_release, supported_operations
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.remedy import Remedy
from kafka_shim.protocol.enums import (
    CLUSTER_NAME,
    ApiKey,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from kafka_shim.shim.observing.request_history import History, HistoryEntry
from kafka_shim.shim.request.session import Session
from tests.recordings.conformance.matrix.access_matrix import USER, Matrix
from tests.recordings.conformance.play import Play
from tests.recordings.conformance.scenario import Scenario
from tests.recordings.peers.in_process import InProcess

BOB = f"User:{USER}"
LITERAL, PREFIXED = PatternType.LITERAL, PatternType.PREFIXED
ALLOW, DENY = Permission.ALLOW, Permission.DENY
ACL_SETS_PER_REQUEST = 2
SUBSETS_OF_MAX = 5
"""Up to this many steps, all proper subsets are tried; of more, all with one step less."""


class Request:
    """The last request of a scenario, sent with different ACLs while all else is allowed."""

    def __init__(self, release: str, scenario: Scenario, *, is_open: bool) -> None:
        self._release = release
        self._mode = "open" if is_open else "authorizer"
        self._scenario = scenario

    @cached_property
    def allowed_errors(self) -> tuple[int, ...] | None:
        """The errors of the response if everything is allowed."""
        return errors_of(self.sent_with(None))

    def sent_with(self, acls: Sequence[Acl] | None) -> HistoryEntry:
        """Run the scenario on a new broker; return the request, decided with these ACLs.

        None: with those of the scenario, which allow everything.
        """
        peer = InProcess(self._release, self._mode)
        authorizer = peer.stage.cluster.policy.authorizer
        assert isinstance(authorizer, StandardAuthorizer)
        store, dispatcher = authorizer.store, peer.stage.dispatcher
        history = History()
        dispatcher.set_history(history)
        dispatch, last = dispatcher.dispatch, self._scenario.steps[-1]
        earlier = [s for s in self._scenario.steps[:-1] if (s.user, s.api) == (USER, last.api)]
        requests: list[HistoryEntry] = []

        def dispatch_with_acls(frame: bytes, session: Session) -> Any:
            api = ApiKey(int.from_bytes(frame[:2], "big")).wire_name
            if (session.principal, api) != (BOB, last.api):
                return dispatch(frame, session)
            if earlier:
                earlier.pop()
                return dispatch(frame, session)
            before = store.snapshot()
            if acls is not None:
                store.replace_all(acls)
            response = dispatch(frame, session)
            store.replace_all(before)
            requests.append(list(history)[-1])
            return response

        dispatcher.dispatch = dispatch_with_acls  # type: ignore[method-assign]
        Play(self._scenario, peer).run()
        return requests[-1]


def errors_of(seen: HistoryEntry) -> tuple[int, ...] | None:
    """Return the errors of a response, without those that are only shown in a separate field."""
    if seen.api is not ApiKey.CREATE_TOPICS or seen.response is None:
        return seen.errors
    return tuple(topic["errorCode"] for topic in seen.decoded_row()["response"]["topics"])


def random_acls(rng: random.Random, scenario: Scenario, rules: AclRules) -> list[Acl]:
    """Return a few ACLs on the scenario's names, many of which apply to bob."""
    names = [*scenario.topics, *scenario.groups, scenario.prefix, scenario.prefix[:1], "*", "other"]
    hosts = ["*", "127.0.0.1", "10.0.0.1", *(["127.0.0.0/8"] if rules.host_networks else [])]
    types = [ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER]
    types.append(ResourceType.TRANSACTIONAL_ID)
    found: dict[Acl, None] = {}
    for _ in range(rng.randrange(10)):
        kind = rng.choice(types)
        operations = [*supported_operations(kind, rules), Operation.ALL]
        is_prefix = (
            rules.has_prefixed_patterns and kind is not ResourceType.CLUSTER and rng.random() < 0.4
        )
        acl = Acl(
            kind,
            CLUSTER_NAME if kind is ResourceType.CLUSTER else rng.choice(names),
            PREFIXED if is_prefix else LITERAL,
            rng.choice((BOB, BOB, "User:*", "User:eve")),
            rng.choice(hosts),
            rng.choice(operations),
            rng.choice((ALLOW, DENY)),
        )
        found[acl] = None
    return list(found)


def after(acls: Iterable[Acl], removed: Iterable[Acl], added: Iterable[Acl]) -> list[Acl]:
    gone = set(removed)
    return [*(acl for acl in acls if acl not in gone), *added]


def remedy_of(entry: HistoryEntry) -> Remedy | None:
    return None if entry.denied_request is None else entry.denied_request.remedy


def subsets(remedy: Remedy) -> Iterator[tuple[list[Acl], list[Acl]]]:
    """Yield proper subsets of the steps: what is removed, and what is added.

    Without the empty one, which is the request that has the remedy.
    """
    steps = [*((acl, True) for acl in remedy.remove), *((acl, False) for acl in remedy.add)]
    sizes = range(1, len(steps)) if len(steps) <= SUBSETS_OF_MAX else (len(steps) - 1,)
    for size in sizes:
        for subset in combinations(steps, size):
            removed = [acl for acl, is_removed in subset if is_removed]
            yield removed, [acl for acl, is_removed in subset if not is_removed]


def check_remedy(request: Request, acls: list[Acl]) -> bool:
    """Apply the remedy of the request with these ACLs; return whether there was one."""
    allowed_errors = request.allowed_errors
    seen = request.sent_with(acls)
    remedy = remedy_of(seen)
    if remedy is None:
        assert errors_of(seen) == allowed_errors, acls
        return False
    fails_visibly = errors_of(seen) != allowed_errors

    def succeeds(removed: Iterable[Acl], added: Iterable[Acl]) -> bool:
        repeated = request.sent_with(after(acls, removed, added))
        return (
            errors_of(repeated) == allowed_errors if fails_visibly else remedy_of(repeated) is None
        )

    assert set(remedy.remove) <= set(acls)
    assert all(acl.permission is DENY for acl in remedy.remove)
    assert all(acl.principal == BOB and acl.permission is ALLOW for acl in remedy.add)
    if not remedy.complete:
        return check_remedy(request, after(acls, remedy.remove, remedy.add))
    assert succeeds(remedy.remove, remedy.add), (acls, remedy)
    for removed, added in subsets(remedy):
        assert not succeeds(removed, added), (acls, remedy, removed, added)
    return True


@cache
def scenarios(release: str) -> dict[str, Scenario]:
    """Return a scenario in which everything is allowed, for each row of the table."""
    return {bound.requirement.id: scene for bound, scene in Matrix(release).allowed_scenes()}


ROWS = [
    pytest.param(release, row, marks=[pytest.mark.deep] if release != "4.4" else [])
    for release in ("0.11", "2.7", "4.4")
    for row in scenarios(release)
]


@pytest.mark.parametrize(("release", "row"), ROWS)
@pytest.mark.parametrize("is_open", [False, pytest.param(True, marks=pytest.mark.deep)])
def test_a_request_succeeds_after_its_remedy_and_not_after_less(
    release: str, row: str, is_open: bool
) -> None:
    scenario = scenarios(release)[row]
    request = Request(release, scenario, is_open=is_open)
    rng = random.Random(f"{release} {row}")
    check_remedy(request, [])
    for _ in range(ACL_SETS_PER_REQUEST):
        check_remedy(request, random_acls(rng, scenario, acl_rules_of_release(release)))
