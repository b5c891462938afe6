"""KAFKA_SHIM_* variables mean what the options mean; misspelt ones are errors."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_shim.shim.config import Config
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.configuration import config_from_arguments
from kafka_shim.shim.settings.option_arguments import add_broker_arguments
from kafka_shim.shim.settings.shim_variables import (
    reject_unknown_shim_variables,
    state_of_shim_variables,
)

ACL = "- {principal: User:alice, allow: [Write], topic: orders}"
STATE = "groups: {billing: {orders: {0: 42}}}\ntopics: {payments: {partitions: 2}}"


def config(variables: dict[str, str], *words: str) -> Config:
    parser = argparse.ArgumentParser()
    add_broker_arguments(parser)
    state = state_of_shim_variables(variables)
    return config_from_arguments(parser.parse_args(words), {}, state_of_environment=state)


def test_the_values_mean_what_the_options_mean(tmp_path: Path) -> None:
    (tmp_path / "state.yaml").write_text(STATE)
    (tmp_path / "acls.yaml").write_text(ACL)
    by_options = config(
        {}, "--topic", "orders:3", "--topic", "a", "--user", "alice:se,cret", "--user", "bob:x",
        "--state", str(tmp_path / "state.yaml"), "--acls", str(tmp_path / "acls.yaml"),
    )  # fmt: skip
    variables = {
        "KAFKA_SHIM_TOPICS": "orders:3, a",
        "KAFKA_SHIM_USERS": "alice:se,cret\nbob:x\n",
        "KAFKA_SHIM_ACLS": ACL,
        "KAFKA_SHIM_STATE": STATE,
    }
    by_variables = config(variables)
    assert {each.name: each for each in by_variables.topics} == {
        each.name: each for each in by_options.topics
    }
    for field in ("users", "acls", "groups", "super_users", "listeners"):
        assert getattr(by_variables, field) == getattr(by_options, field), field


def test_options_take_precedence() -> None:
    variables = {"KAFKA_SHIM_USERS": "alice:a,bob:b", "KAFKA_SHIM_TOPICS": "orders:3"}
    made = config(variables, "--user", "alice:other", "--topic", "orders:5")
    assert made.users == {"alice": "other", "bob": "b"}
    assert [topic.partitions for topic in made.topics] == [5]


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("TOPICS", "orders:x", "KAFKA_SHIM_TOPICS `orders:x`: expected NAME:PARTITIONS"),
        ("USERS", "alice", "KAFKA_SHIM_USERS: expected NAME:PASSWORD,"),
        ("ACLS", "- {principal: alice}", "KAFKA_SHIM_ACLS: "),
        ("STATE", "topcs: {}", "did you mean `topics`"),
    ],
)
def test_an_invalid_value_is_an_error_with_the_variable(
    variable: str, value: str, message: str
) -> None:
    with pytest.raises(ConfigError) as error:
        config({f"KAFKA_SHIM_{variable}": value})
    assert message in str(error.value)


def test_a_misspelt_variable_is_an_error_and_those_of_run_are_not() -> None:
    reject_unknown_shim_variables(
        {
            "KAFKA_SHIM_CONTROL_URL": "x",
            "KAFKA_SHIM_CONTROL_TOKEN": "y",
            "KAFKA_SHIM_BINARY": "/usr/bin/kafka-shim",
            "KAFKA_X": "z",
        }
    )
    with pytest.raises(ConfigError, match="did you mean `KAFKA_SHIM_TOPICS`"):
        reject_unknown_shim_variables({"KAFKA_SHIM_TOPIC": "orders"})


def test_serve_reads_them_with_the_control_api() -> None:
    variables = {"KAFKA_SHIM_CONTROL": "127.0.0.1:0", "KAFKA_SHIM_USERS": "alice:secret"}
    process = subprocess.Popen(
        [sys.executable, "-m", "kafka_shim", "serve", "--port", "0", "--stop-with-stdin"],
        env=os.environ | variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    output, _ = process.communicate("", timeout=60)
    assert process.returncode == 0
    assert "control on http://127.0.0.1:" in output
