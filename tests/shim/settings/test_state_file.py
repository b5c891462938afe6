from pathlib import Path

import pytest

from kafka_shim.protocol.enums import Operation
from kafka_shim.shim.config import InitialGroup, InitialTopic
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.state_file import StateFileContent, read_state_file
from tests.support.acls import make_acl

WHOLE = """
users:
  alice: alice-secret
super_users: [User:admin]
topics:
  orders: {partitions: 3, replication_factor: 2, configs: {retention.ms: 60000, preallocate: yes}}
  payments:
  audit: 2
acls:
  - {principal: User:alice, allow: Write, topic: orders}
  - {principal: User:alice, allow: Write, topic: orders}
groups:
  billing:
    orders: {0: 42, 2: 0}
client_metrics:
  latencies: {metrics: org.apache.kafka.producer., interval.ms: 5000}
faults:
  - {match: {api: Produce}, action: {error: REQUEST_TIMED_OUT}}
"""


def read(folder: Path, text: str) -> StateFileContent:
    path = folder / "state.yaml"
    path.write_text(text)
    return read_state_file(str(path))


def test_a_complete_file_is_read(tmp_path: Path) -> None:
    acl = make_acl(Operation.WRITE, "orders")
    assert read(tmp_path, WHOLE) == StateFileContent(
        users={"alice": "alice-secret"},
        super_users=("User:admin",),
        topics=(
            InitialTopic("orders", 3, {"retention.ms": "60000", "preallocate": "true"}, 2),
            InitialTopic("payments"),
            InitialTopic("audit", 2),
        ),
        acls_with_lines=((acl, 10), (acl, 11)),
        groups=(InitialGroup("billing", {"orders": {0: 42, 2: 0}}),),
        client_metrics={
            "latencies": {"metrics": "org.apache.kafka.producer.", "interval.ms": "5000"}
        },
        faults=({"match": {"api": "Produce"}, "action": {"error": "REQUEST_TIMED_OUT"}},),
    )


@pytest.mark.parametrize("text", ["", "users:\n", "{}", "topics: {}\nacls:\ngroups:\nsuper_users:"])
def test_empty_files_and_keys_are_valid(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == StateFileContent()


def test_topics_may_be_a_list(tmp_path: Path) -> None:
    assert read(tmp_path, "topics: [a, b]").topics == (InitialTopic("a"), InitialTopic("b"))


def test_the_demo_is_read() -> None:
    demo = read_state_file(str(Path(__file__).parents[3] / "examples" / "demo.yaml"))
    assert set(demo.users) == {"admin", "alice", "bob", "carol"}
    assert len(demo.distinct_acls) == 4


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("hello", "line 1: the file must be a mapping, not a string"),
        (
            "topic: {}",
            "the file: unknown key `topic`; did you mean `topics`? Known are",
        ),
        ("1: 2", "the key `1` must be a string; put it in quotes"),
        ("users: [alice]", "`users` must be a mapping"),
        (
            "users: {alice: 1234}",
            "`users.alice` must be a string, not a number; numbers need quotes",
        ),
        ("super_users: User:a", "`super_users` must be a list"),
        ("super_users: [admin]", "`admin` is not of the form Type:name"),
        ("topics: orders", "`topics` must be a mapping"),
        (
            "topics: {t: {partition: 3}}",
            "`topics.t`: unknown key `partition`; did you mean `partitions`?",
        ),
        ("topics: {t: {partitions: 0}}", "`topics.t.partitions` must be a number from 1, not `0`"),
        ("topics: {t: yes}", "`topics.t` must be a number from 1, not `True`"),
        ("topics: {t: {configs: {a: [1]}}}", "`topics.t.configs.a` must be a string or a number"),
        ("acls: {principal: User:a}", "`acls` must be a list"),
        (
            "acls:\n- {principal: User:a, allow: Read}",
            "line 2: `acls`: acl 1: expected exactly one resource",
        ),
        ("groups: {g: {t: 5}}", "`groups.g.t` must be offsets by partition"),
        ("groups: {g: {t: {0: -1}}}", "`groups.g.t`: invalid `-1`; expected a number of 0 or more"),
        ("groups: {g: {t: {x: 1}}}", "`groups.g.t`: invalid `x`; expected a number of 0 or more"),
        ("client_metrics: [a]", "`client_metrics` must be a mapping"),
        ("client_metrics: {a: {match: [b]}}", "`client_metrics.a.match` must be a string or"),
        ("faults: {action: {delay_ms: 1}}", "`faults` must be a list"),
        ("faults: [{action: {}}]", "`faults` 1: the fault has no action; expected one of error"),
        ("faults: [5]", "`faults` 1: invalid fault: Expected `object`, got `int`"),
        ("a: [", "not YAML"),
        ("topics:\n  a:\n    partitions: x", "line 3: `topics.a.partitions` must be a number"),
        ("users:\n- Secret1", "line 2: `users` must be a mapping, not a list"),
        ("users: {alice: [Secret1]}", "line 1: `users.alice` must be a string, not a list"),
        ("users: {alice: *Secret1}", "a value that begins with `*` needs quotes"),
        ("users: {alice: !Secret1 x}", "a value that begins with `!` needs quotes"),
        ("root:x:0:0:Secret1\nuser:x:1", "line 1: the file must be a mapping, not a string"),
        ("topics: {a: 1" + ":1" * 3000 + "}", "a number of 6001 characters"),
        ("faults:\n- 1", "line 2: `faults` 1: invalid fault"),
    ],
)
def test_errors_are_reported(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"--state {tmp_path}/state.yaml: ")
    assert complaint in str(caught.value)


def test_a_missing_file_is_reported() -> None:
    with pytest.raises(ConfigError, match=r"--state none.yaml: No such file"):
        read_state_file("none.yaml")
