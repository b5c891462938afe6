import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_shim.cli import main
from kafka_shim.shim.config import ListenerConfig, SecurityProtocol
from tests.cli.conftest import Running

ADD = ("--add", "--allow-principal", "User:a", "--operation", "Read", "--topic", "t")
REMOVE = ("--remove", "--allow-principal", "User:a", "--operation", "Read", "--topic", "t")

Acls = Callable[..., int]


@pytest.fixture
def acls(broker: Running) -> Acls:
    return lambda *words: main(["acls", "--bootstrap-server", broker.plaintext, *words])


def login(folder: Path, user: str, password: str) -> str:
    """Write a file for --command-config; return its path."""
    path = folder / f"{user}.properties"
    path.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\\n"
        f'  username="{user}" password="{password}";\n'
    )
    return str(path)


def test_the_output_of_add_is_that_of_kafka_acls(
    acls: Acls, capsys: pytest.CaptureFixture[str]
) -> None:
    assert acls(*ADD) == 0
    assert capsys.readouterr().out == (
        "Adding ACLs for resource `ResourcePattern(resourceType=TOPIC, name=t,"
        " patternType=LITERAL)`: \n"
        " \t(principal=User:a, host=*, operation=READ, permissionType=ALLOW)\n\n"
    )
    assert acls(*ADD) == 0
    assert capsys.readouterr().out == (
        "Acl (pattern=ResourcePattern(resourceType=TOPIC, name=t, patternType=LITERAL),"
        " entry=(principal=User:a, host=*, operation=READ, permissionType=ALLOW)) already exists.\n"
    )


def test_the_output_of_list_is_that_of_kafka_acls(
    acls: Acls, capsys: pytest.CaptureFixture[str]
) -> None:
    acls(*ADD)
    capsys.readouterr()
    assert acls("--list", "--principal", "User:a") == 0
    assert capsys.readouterr().out == (
        "ACLs for principal `User:a`\n"
        "Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=t,"
        " patternType=LITERAL)`:\n"
        "\t(principal=User:a, host=*, operation=READ, permissionType=ALLOW)\n\n"
    )


def test_control_characters_of_a_brokers_names_are_escaped(
    acls: Acls, capsys: pytest.CaptureFixture[str]
) -> None:
    acls("--add", "--allow-principal", "User:\x1b]0;a\x07", "--operation", "Read", "--group", "g")
    capsys.readouterr()
    assert acls("--list") == 0
    out = capsys.readouterr().out
    assert "(principal=User:\\x1b]0;a\\x07, host=*, operation=READ," in out
    assert out.replace("\n", "").replace("\t", "").isprintable()


@pytest.mark.parametrize(("response", "left"), [("n", 1), ("yes", 1), ("", 1), ("y", 0), ("Y", 0)])
def test_remove_asks_for_confirmation_and_only_y_confirms(
    acls: Acls,
    broker: Running,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    response: str,
    left: int,
) -> None:
    acls(*ADD)
    capsys.readouterr()
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{response}\n"))
    assert acls(*REMOVE) == 0
    assert capsys.readouterr().out == (
        "Are you sure you want to remove ACLs: \n"
        " \t(principal=User:a, host=*, operation=READ, permissionType=ALLOW)\n"
        " from resource filter `ResourcePattern(resourceType=TOPIC, name=t, patternType=LITERAL)`?"
        " (y/n)\n"
    )
    assert len(stored(broker)) == left


@pytest.mark.parametrize("stream", [None, io.StringIO()], ids=["closed", "end of file"])
def test_remove_without_a_terminal_is_cancelled(
    acls: Acls,
    broker: Running,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    stream: io.StringIO | None,
) -> None:
    acls(*ADD)
    monkeypatch.setattr(sys, "stdin", stream)
    assert acls(*REMOVE) == 1
    if stream is None:
        sys.stdin.close()  # the null device, which the command line opens in its place
    assert "nobody can confirm; use --force" in capsys.readouterr().err
    assert len(stored(broker)) == 1


def test_removing_all_acls_asks_for_confirmation_too(
    acls: Acls, broker: Running, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    acls(*ADD)
    capsys.readouterr()
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert acls("--remove", "--topic", "t") == 1
    captured = capsys.readouterr()
    assert captured.out == (
        "Are you sure you want to delete all ACLs for resource filter"
        " `ResourcePattern(resourceType=TOPIC, name=t, patternType=LITERAL)`? (y/n)\n"
    )
    assert "use --force" in captured.err
    assert len(stored(broker)) == 1


def test_each_action_prints_json(acls: Acls, capsys: pytest.CaptureFixture[str]) -> None:
    entry = {
        "principal": "User:a",
        "host": "*",
        "resource_type": "TOPIC",
        "resource_name": "t",
        "resource_pattern_type": "LITERAL",
        "operation": "READ",
        "permission": "ALLOW",
    }
    written = []
    for words in (ADD, ADD, ("--list",), (*REMOVE, "--force"), ("--list",)):
        assert acls(*words, "--json") == 0
        written.append(json.loads(capsys.readouterr().out))
    assert written == [
        {"added": [entry], "existing": []},
        {"added": [], "existing": [entry]},
        [entry],
        {"removed": [entry]},
        [],
    ]


def test_login_with_a_jaas_line_and_a_denial_with_its_permission(
    broker: Running, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def as_user(user: str, password: str, *words: str) -> int:
        config = login(tmp_path, user, password)
        server = ("--bootstrap-server", broker.sasl, "--command-config", config)
        return main(["acls", *server, *words])

    assert as_user("admin", "admin-secret", *ADD) == 0
    assert as_user("alice", "alice-secret", "--list") == 1
    assert capsys.readouterr().err == (
        "Error while executing ACL command: cannot list ACLs: CLUSTER_AUTHORIZATION_FAILED (31);"
        " cluster authorization failed; this needs Describe on the cluster\n"
    )
    assert as_user("alice", "alice-secret", *REMOVE, "--force") == 1
    assert "this needs Alter on the cluster" in capsys.readouterr().err
    assert as_user("alice", "wrong", "--list") == 1
    err = capsys.readouterr().err
    assert f"{broker.sasl} rejected the authentication of alice" in err
    assert "wrong" not in err


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_login_with_scram(
    broker: Running, capsys: pytest.CaptureFixture[str], tmp_path: Path, mechanism: str
) -> None:
    for password, code in (("admin-secret", 0), ("wrong", 1)):
        path = tmp_path / "scram.properties"
        path.write_text(
            f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism={mechanism}\n"
            f"username=admin\npassword={password}\n"
        )
        words = ("--bootstrap-server", broker.sasl, "--command-config", str(path), "--list")
        assert main(["acls", *words]) == code
    assert "rejected the authentication of admin" in capsys.readouterr().err


def test_login_with_a_client_certificate(
    start: Callable[..., Running], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("trustme")
    listener = ListenerConfig("SSL", SecurityProtocol.SSL, "127.0.0.1", 0)
    running = start(
        listeners=(listener,),
        properties={
            "shim.tls.directory": str(tmp_path),
            "ssl.client.auth": "requested",
            "ssl.principal.mapping.rules": "RULE:^CN=([^,]+).*$/$1/",
        },
        super_users=("User:client",),
    )
    trusting = tmp_path / "tls.properties"
    trusting.write_text(
        "security.protocol=SSL\nssl.truststore.type=PEM\nssl.keystore.type=PEM\n"
        f"ssl.truststore.location={tmp_path}/ca.pem\nssl.keystore.location={tmp_path}/client.pem\n"
    )
    stranger = tmp_path / "stranger.properties"
    stranger.write_text("security.protocol=SSL\n")
    server = ("--bootstrap-server", running.bootstrap("SSL"))
    assert main(["acls", *server, "--command-config", str(trusting), *ADD]) == 0
    assert len(stored(running)) == 1
    assert main(["acls", *server, "--command-config", str(stranger), *ADD]) == 1
    assert "its authority must be trusted" in capsys.readouterr().err
    assert main(["acls", *server, *ADD]) == 1
    assert "a TLS listener SSL or SASL_SSL" in capsys.readouterr().err


def test_a_missing_authorizer_is_reported(
    start: Callable[..., Running], capsys: pytest.CaptureFixture[str]
) -> None:
    bootstrap = start(authorizer="none").plaintext
    assert main(["acls", "--bootstrap-server", bootstrap, "--list"]) == 1
    err = capsys.readouterr().err
    assert "SECURITY_DISABLED (54)" in err
    assert "set authorizer.class.name" in err


def test_an_unreachable_broker_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["acls", "--bootstrap-server", "127.0.0.1:1", "--list"]) == 1
    assert "cannot connect to 127.0.0.1:1: Connection refused" in capsys.readouterr().err


def test_the_address_may_come_from_the_environment(
    broker: Running, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", broker.plaintext)
    assert main(["acls", "--list"]) == 0
    monkeypatch.delenv("KAFKA_BOOTSTRAP_SERVERS")
    with pytest.raises(SystemExit) as ended:
        main(["acls", "--list"])
    assert ended.value.code == 2
    assert "--bootstrap-server" in capsys.readouterr().err


@pytest.mark.parametrize("release", ["0.11", "1.1", "2.0", "2.8", "3.9", "4.3"])
def test_every_release_is_supported(
    start: Callable[..., Running], capsys: pytest.CaptureFixture[str], release: str
) -> None:
    server = ("--bootstrap-server", start(release=release).plaintext)
    assert main(["acls", *server, *ADD]) == 0
    capsys.readouterr()
    assert main(["acls", *server, "--list", "--topic", "t"]) == 0
    assert "User:a" in capsys.readouterr().out
    prefixed = main(["acls", *server, *ADD, "--resource-pattern-type", "prefixed"])
    if release in ("0.11", "1.1"):
        assert prefixed == 1
        assert "older than prefixed" in capsys.readouterr().err
    else:
        assert prefixed == 0
    assert main(["acls", *server, *REMOVE, "--force"]) == 0
    capsys.readouterr()
    assert main(["acls", *server, "--list", "--topic", "t"]) == 0
    assert capsys.readouterr().out == ""


def stored(broker: Running) -> list[object]:
    from kafka_shim.authorizer.model import AclFilter

    authorizer = broker.cluster.policy.authorizer
    assert authorizer is not None
    return list(authorizer.acls(AclFilter()))
