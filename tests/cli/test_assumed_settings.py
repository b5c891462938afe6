"""Commands on a cluster say which settings they assume, or refuse a result that depends on them.

The broker returns the settings as real ones do (tests/client/test_authorizer_settings.py), since
the name that only kafka-shim knows is not asked for.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_shim.cli import main
from tests.cli.conftest import Running

OLD = "- {principal: User:alice, allow: [Read, Write], topic: orders}\n"
NEW = f"{OLD}- {{principal: [User:bob, User:carol], allow: Read, topic: fresh}}\n"
EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ["allow.everyone.if.no.acl.found", "super.users"]
NOTE = "assumed: allow.everyone.if.no.acl.found=false and no super users, since the broker does not"
OPEN = "--allow-everyone-if-no-acl-found"
CLOSED = f"--no-{OPEN.removeprefix('--')}"
UNLESS = "denied, unless User:x is a super user"
KNOWN = [CLOSED, "--super-user", "User:ANONYMOUS"]


@pytest.fixture(autouse=True)
def real_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "kafka_shim.client.cluster_policy._NAMES", [*NAMES, "authorizer.class.name"]
    )


@pytest.fixture
def at(start: Callable[..., Running], tmp_path: Path) -> list[str]:
    """Return the options to connect to a cluster in the open mode, which has the old ACLs."""
    running = start(allow_everyone_if_no_acl_found=True)
    (tmp_path / "old.yaml").write_text(OLD)
    (tmp_path / "new.yaml").write_text(NEW)
    (tmp_path / "rules.yaml").write_text("- {principal: User:alice, may: Read, topic: orders}\n")
    words = ["--bootstrap-server", running.plaintext]
    assert main(["acls", *words, "--add", "--acls", str(tmp_path / "old.yaml")]) == 0
    return words


@pytest.fixture
def printed(
    at: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], str]:
    def run(words: str) -> str:
        """Run a command on the cluster; `NAME.yaml` is a file of the test."""
        capsys.readouterr()
        found = [str(tmp_path / w) if w.endswith(".yaml") else w for w in words.split()]
        assert main([*found, *at]) in (0, 3)
        output = capsys.readouterr()
        return output.out + output.err

    return run


@pytest.mark.parametrize(
    "words",
    [
        "explain --principal User:x --operation Read --resource topic:orders",
        "explain --principal User:x --api Fetch --resource topic:orders",
        "who-can Read topic:orders",
        "policy diff new.yaml",
        "policy diff new.yaml --format markdown",
        "policy diff new.yaml --format html",
        "policy check access-not-granted --only topic:orders --principal User:alice",
        "policy matrix",
        "policy lint",
        "policy compact",
        "policy test rules.yaml",
    ],
)
def test_assumed_settings_are_named(words: str, printed: Callable[[str], str]) -> None:
    assert NOTE in printed(words)
    assert "assumed:" not in printed(" ".join([words, *KNOWN]))


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        (
            "explain --principal User:x --operation Read --resource topic:orders",
            f"{UNLESS}: Read on topic",
        ),
        ("explain --principal User:x --api Fetch --resource topic:orders", f"{UNLESS}: Fetch v"),
        (
            "explain --principal User:x --operation Read --resource topic:fresh",
            f"{UNLESS} or {NAMES[0]} is true: Read on topic `fresh`",
        ),
        (
            "explain --principal User:x --api Fetch --resource topic:fresh",
            f"{UNLESS} or {NAMES[0]} is true",
        ),
        ("who-can Write topic:orders", "allowed Write on topic `orders`, besides super users:\n"),
        ("who-can Write topic:fresh", "no principal is allowed Write on topic `fresh`, besides"),
        (
            "who-can Read group:closed",
            "denied, unless a super user, although an ACL allows it:\n  User:alice\n",
        ),
    ],
)
def test_a_denial_depends_on_unknown_super_users(
    words: str, verdict: str, at: list[str], printed: Callable[[str], str]
) -> None:
    for flag, principal in ("--allow-principal", "User:alice"), ("--deny-principal", "User:*"):
        entry = [flag, principal, "--operation", "All", "--group", "closed"]
        assert main(["acls", *at, "--add", *entry]) == 0
    assert verdict in printed(words)
    known = printed(" ".join([words, *KNOWN]))
    assert "besides super users" not in known
    assert "unless" not in known


def test_known_settings_leave_no_condition(printed: Callable[[str], str]) -> None:
    words = "explain --principal User:x --operation Read --resource topic:fresh"
    assert printed(f"{words} --super-user User:y").startswith(f"denied, unless {NAMES[0]} is true:")
    assert printed(f"{words} {CLOSED}").startswith(f"{UNLESS}: ")
    assert printed(f"{words} {' '.join(KNOWN)}").startswith("denied: ")


def test_a_matrix_as_a_page_names_assumed_settings(
    printed: Callable[[str], str],
) -> None:
    page = printed("policy matrix --html")
    assert NOTE in page.partition("</html>")[0]


@pytest.mark.parametrize(
    "words",
    [
        "explain --principal User:x --operation Read --resource topic:orders --json",
        "explain --principal User:x --api Fetch --resource topic:orders --json",
        "who-can Read topic:orders --json",
        "policy diff new.yaml --json",
        "policy check access-not-granted --only topic:orders --principal User:alice --json",
    ],
)
def test_json_lists_assumed_settings(words: str, printed: Callable[[str], str]) -> None:
    assert json.loads(printed(words))["assumed_settings"] == NAMES
    known = " ".join([words, *KNOWN])
    assert json.loads(printed(known))["assumed_settings"] == []


@pytest.mark.parametrize(
    ("words", "code_if_open", "code_if_closed"),
    [
        ("policy check no-public-access", 3, 0),
        ("policy check no-new-access new.yaml", 0, 3),
        ("policy check access-not-granted --only topic:fresh", 3, 0),
        ("policy diff new.yaml --fail-on loss", 3, 0),
        ("policy implies new.yaml --b ADDRESS", 0, 3),
        ("policy implies old.yaml --b ADDRESS", 0, 0),
        ("policy equivalent old.yaml --b ADDRESS", 0, 0),
    ],
)
def test_a_result_that_depends_on_an_unknown_mode_is_refused(
    words: str,
    code_if_open: int,
    code_if_closed: int,
    at: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = [str(tmp_path / w) if w.endswith(".yaml") else w for w in words.split()]
    if "ADDRESS" in command:
        command[command.index("ADDRESS")] = at[1]
    else:
        command += at
    assert main([*command, OPEN]) == code_if_open
    assert main([*command, CLOSED]) == code_if_closed
    if code_if_open == code_if_closed:
        assert main(command) == code_if_open
        return
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert ended.value.code == 2
    assert f"the result depends on {NAMES[0]}" in capsys.readouterr().err


def test_a_plan_marks_steps_that_lose_access_in_one_of_the_modes(
    printed: Callable[[str], str],
) -> None:
    lost = "after command 1: - User:carol: Read, Describe on topic `fresh`"
    plan = "policy plan new.yaml"
    assert printed(plan).startswith(f"# interim, if {NAMES[0]}=true, {lost}\n")
    assert printed(f"{plan} {OPEN}").startswith(f"# interim, {lost}\n")
    assert "interim" not in printed(f"{plan} {CLOSED}")


def test_a_flip_of_the_mode_needs_its_value_before(
    at: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["policy", "diff", *at, "--set", f"{NAMES[0]}=false"]
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert f"the broker does not return {NAMES[0]}" in capsys.readouterr().err
    assert main([*words, "--old-set", f"{NAMES[0]}=true", "--fail-on", "loss"]) == 3


def test_a_cluster_that_sets_no_mode_is_closed(
    broker: Running, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "new.yaml").write_text(NEW)
    at = ["--bootstrap-server", broker.plaintext]
    assert main(["policy", "plan", str(tmp_path / "new.yaml"), *at]) == 0
    assert "interim" not in capsys.readouterr().out
    assert main(["policy", "check", "no-public-access", *at]) == 0
    assert "assumed: no super users" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--a", "--b"])
def test_an_invalid_address_is_reported_with_its_option(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "old.yaml").write_text(OLD)
    assert main(["policy", "equivalent", str(tmp_path / "old.yaml"), option, "a.yaml"]) == 2
    assert f"{option} `a.yaml`: expected HOST:PORT" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        "explain --principal User:alice --operation Read --resource topic:orders",
        "explain --principal User:x --operation Read --resource topic:orders",
        "who-can Read topic:orders",
        "policy diff new.yaml",
        "policy matrix",
        "policy test rules.yaml",
    ],
)
def test_another_authorizer_is_named(
    words: str,
    start: Callable[..., Running],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its decisions are unknown, whether Kafka's rules allow or deny."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    name = "office_hours:OfficeHours"
    running = start(authorizer=name, properties={"office.hours": "0-24"})
    (tmp_path / "new.yaml").write_text(NEW)
    (tmp_path / "rules.yaml").write_text("- {principal: User:alice, may: Read, topic: orders}\n")
    at = ["--bootstrap-server", running.plaintext]
    entry = ["--allow-principal", "User:alice", "--operation", "Read", "--topic", "orders"]
    assert main(["acls", *at, "--add", *entry]) == 0
    found = [str(tmp_path / w) if w.endswith(".yaml") else w for w in words.split()]
    assert main([*found, *at]) in (0, 3)
    output = capsys.readouterr()
    assert f"own authorizer, but the broker has authorizer.class.name={name}\n" in (
        output.out + output.err
    )
