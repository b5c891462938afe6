"""Scripts with kafka-acls commands, as users write them."""

import pytest

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.policy.formats import parse_distinct_acls

GRANT = (
    "kafka-acls --bootstrap-server $BROKERS --add --allow-principal {} --operation Read --topic x"
)


@pytest.mark.parametrize("word", ["User:$WHO", '"User:${WHO}"', "User:$(whoami)", "User:`whoami`"])
def test_shell_expansions_are_rejected(word: str) -> None:
    with pytest.raises(AclTextError, match=r"^line 2: `User:.*` is a shell expression"):
        parse_distinct_acls(f"#!/bin/sh\n{GRANT.format(word)}\n", "commands")


@pytest.mark.parametrize(
    ("word", "principal"),
    [("'User:$WHO'", "User:$WHO"), (r"User:\$WHO", "User:$WHO"), ("User:a$", "User:a$")],
)
def test_characters_that_a_shell_keeps_are_literal(word: str, principal: str) -> None:
    [acl] = parse_distinct_acls(GRANT.format(word), "commands")
    assert acl.principal == principal
