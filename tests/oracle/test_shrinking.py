"""A scenario is shortened without losing its difference."""

import base64

from tests.oracle.comparing import Tally, paths
from tests.oracle.shrinking import renamed, shrink
from tests.recordings.conformance.scenario import Scenario, Step, topic_id_of


def scenario() -> Scenario:
    steps = [Step("alice", "ListGroups", number, {}) for number in range(12)]
    acls = [{"operation": number} for number in range(6)]
    return Scenario("s7", ["s7-a", "s7-b"], ["s7-g"], acls, steps)


def test_shrinking_leaves_only_relevant_requests() -> None:
    def differs(played: Scenario) -> bool:
        versions = {step.version for step in played.steps}
        return {2, 9} <= versions and {"operation": 4} in played.acls

    short = shrink(scenario(), differs)
    assert [step.version for step in short.steps] == [2, 9]
    assert short.acls == [{"operation": 4}]
    assert short.groups == []


def test_each_trial_has_its_own_names() -> None:
    seen: list[str] = []

    def differs(played: Scenario) -> bool:
        seen.append(played.prefix)
        return True

    shrink(scenario(), differs)
    assert len(set(seen)) == len(seen) > 3


def test_renaming_reaches_names_and_topic_ids() -> None:
    original = scenario()
    old = base64.b64encode(topic_id_of("s7-a")).decode()
    original.steps = [
        Step("bob", "Metadata", 12, {"topics": [{"topic_id": old}, {"name": "s7.log"}]})
    ]
    original.acls = [{"resource_name": "s7"}, {"resource_name": "s70-x"}]
    new = renamed(original, "s7x1")
    assert new.topics == ["s7x1-a", "s7x1-b"]
    renamed_id = base64.b64encode(topic_id_of("s7x1-a")).decode()
    assert new.steps[0].request == {"topics": [{"topic_id": renamed_id}, {"name": "s7x1.log"}]}
    assert new.acls == [{"resource_name": "s7x1"}, {"resource_name": "s70-x"}]


def test_a_tally_counts_by_api_and_shows_the_first_difference() -> None:
    played = scenario()
    played.steps = played.steps[:2]
    tally = Tally()
    tally.add(
        7, played, [{"error_code": 0}, {"error_code": 0}], [{"error_code": 0}, {"error_code": 30}]
    )
    assert (tally.equal["ListGroups"], tally.total["ListGroups"]) == (1, 2)
    assert not tally.all_equal
    (difference,) = tally.differences
    assert list(paths(difference.wanted, difference.got)) == [".error_code: want 0 got 30"]
    assert list(paths({"a": [1, 2]}, {"b": 1})) == [".a: missing [1, 2]", ".b: extra 1"]
