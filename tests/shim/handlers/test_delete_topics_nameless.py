"""DeleteTopics version 6 with an entry that has neither name nor id, as on 2.8.2 and 4.3.1."""

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from tests.shim.play import ADMIN, Stage


@pytest.mark.parametrize(
    ("release", "who", "codes"),
    [
        ("2.8", ADMIN, {None: 29, "x": 3}),
        ("2.8", "User:alice", {None: 29, "x": 29}),
        ("4.3", ADMIN, {None: 42, "x": 3}),
    ],
)
def test_an_entry_without_name_and_id_does_not_fail_the_others(
    release: str, who: str, codes: dict[str | None, int]
) -> None:
    request = DeleteTopicsRequest([DeleteTopicState(None), DeleteTopicState("x")])
    answer = Stage(release).ask(ApiKey.DELETE_TOPICS, 6, request, who)
    assert {response.name: response.error_code for response in answer.responses} == codes
