"""docs/guides/migrating.md, docs/guides/configuration.md and the files for Docker are correct."""

import argparse
import itertools
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from kafka_shim.cli import COMMANDS, import_command_module
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.config import Config
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.configuration import config_from_arguments
from kafka_shim.shim.settings.option_arguments import add_broker_arguments
from kafka_shim.shim.state.cluster import Cluster
from tests.support.commands import SHIM

ROOT = Path(__file__).parents[2]
VARIABLE = re.compile(r"\$\{(\w+):-([^}]*)\}")
COMPOSE_TEXT = (ROOT / "docker-compose.yml").read_text()
COMPOSE = yaml.safe_load(VARIABLE.sub(r"\2", COMPOSE_TEXT))
OURS = {"PYTHONPATH": str(ROOT)}


def blocks(page: str) -> dict[str, str]:
    """Return a page's blocks by the name in their first line, or else by their language."""
    text = (ROOT / "docs" / page).read_text()
    found = {}
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        first = block.partition("\n")[0]
        found[first.removeprefix("# ") if first.startswith("# ") else language] = block
    return found


# ------------------------------------------------------------------ every page


def mentioned() -> list[tuple[str, str]]:
    """Return (page, line) of each `kafka-shim` command line on a page, also within sentences."""
    found = []
    for path in [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        if path.parent.name == "commands":  # the parsers print this page
            continue
        text = re.sub(r"\\\n\s*", "", path.read_text())
        inline = re.findall(r"`(kafka-shim [a-z][^`]+)`", text)
        lines = re.findall(
            r"^ +(?:\$ )?(?:\S+=\S+ )?(kafka-shim .+?)(?:  +#.*)?$", text, re.MULTILINE
        )
        found += [(path.name, " ".join(line.split())) for line in inline + lines]
    return list(dict.fromkeys(found))


@pytest.mark.parametrize(("page", "line"), mentioned())
def test_the_commands_that_pages_mention_have_these_options(page: str, line: str) -> None:
    _, name, *words = shlex.split(line)
    assert name in COMMANDS
    parser = argparse.ArgumentParser(exit_on_error=False)
    import_command_module(name).add_arguments(parser)
    own = itertools.takewhile(lambda word: word != "--", words)
    options = {option for word in own if (option := word.partition("=")[0]).startswith("--")}
    known = parser.format_help()
    for action in parser._subparsers._actions if parser._subparsers else ():
        if isinstance(action, argparse._SubParsersAction):
            chosen = [action.choices[word] for word in words if word in action.choices]
            known += "".join(command.format_help() for command in chosen)
    assert options <= set(re.findall(r"--[\w-]+", known))


# ------------------------------------------------------------------ configuration

CONFIGURATION = blocks("guides/configuration.md")
SAME_BROKER = ["server.properties", "kafka.env", "bitnami.env", "shim.yaml", "shim.toml"]


def configured(name: str, folder: Path) -> Config:
    """Return the broker's configuration that results from a block."""
    parser = argparse.ArgumentParser()
    add_broker_arguments(parser)
    if name.endswith(".env"):
        lines = [line for line in CONFIGURATION[name].splitlines() if not line.startswith("#")]
        return config_from_arguments(
            parser.parse_args([]), dict(line.split("=", 1) for line in lines)
        )
    path = folder / name
    path.write_text(CONFIGURATION[name])
    return config_from_arguments(parser.parse_args(["--config", str(path)]), {})


def told(config: Config) -> dict[str, Any]:
    """Return the parts of a configuration that clients can observe."""
    return {
        "listeners": [(listener.name, listener.protocol) for listener in config.listeners],
        "authorizer": type(Cluster(config, ManualClock()).policy.authorizer).__name__,
        "super_users": sorted(config.super_users),
        "users": dict(config.users_of_listener("SASL_PLAINTEXT")),
        "partitions": config.properties.get("num.partitions"),
        "mechanisms": config.properties.get("sasl.enabled.mechanisms"),
    }


def test_every_block_is_tested_here() -> None:
    assert {*SAME_BROKER, "state.yaml"} == set(CONFIGURATION)


@pytest.mark.parametrize("name", SAME_BROKER)
def test_all_describe_the_same_broker(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = told(configured(name, tmp_path))
    assert found == told(configured("shim.yaml", tmp_path))
    assert found["users"] == {"admin": "admin-secret", "alice": "alice-secret"}
    assert found["super_users"] == ["User:ANONYMOUS", "User:admin"]
    assert (found["authorizer"], found["partitions"]) == ("StandardAuthorizer", "3")
    assert "unknown to every Kafka release" not in capsys.readouterr().err


def test_unknown_settings_are_named_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "server.properties"
    path.write_text(CONFIGURATION["server.properties"] + "acme.metrics.plugin.level=3\n")
    parser = argparse.ArgumentParser()
    add_broker_arguments(parser)
    words = ["--config", str(path), "-c", "acme.metrics.plugin.level=4"]
    config_from_arguments(parser.parse_args(words), {})
    assert capsys.readouterr().err.count("acme.metrics.plugin.level") == 1


def test_a_misspelt_setting_of_the_page_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text(CONFIGURATION["server.properties"] + "num.partitons=3\n")
    parser = argparse.ArgumentParser()
    add_broker_arguments(parser)
    with pytest.raises(ConfigError, match=r"`num\.partitons`; did you mean `num\.partitions`"):
        config_from_arguments(parser.parse_args(["--config", str(path)]), {})


def test_the_state_file_is_loaded_at_startup(tmp_path: Path) -> None:
    (tmp_path / "state.yaml").write_text(CONFIGURATION["state.yaml"])
    script = (
        "import os, sys; from kafka_shim.cli import main;"
        "sys.exit(main(['acls', '--bootstrap-server', os.environ['KAFKA_BOOTSTRAP_SERVERS'],"
        " '--list', '--csv']))"
    )
    options = ["--state", "state.yaml", "--super-user", "User:ANONYMOUS"]
    done = shim("run", *options, "--", sys.executable, "-c", script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "User:bob,Group,PREFIXED,billing-,Read,Allow,*" in done.stdout
    assert "User:alice,Topic,LITERAL,orders,Write,Allow,*" in done.stdout


def test_the_line_that_wait_strategies_look_for_comes_last(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    words = ["serve", "--listener", "PLAINTEXT://127.0.0.1:0", "--control", "127.0.0.1:0"]
    child = subprocess.Popen(
        [*SHIM, *words, "--ready-file", str(ready)],
        stdout=subprocess.PIPE, text=True, env=os.environ | OURS,
    )  # fmt: skip
    assert child.stdout is not None
    lines = []
    for line in child.stdout:
        lines.append(line)
        if "[KafkaServer id=1] started" in line:
            break
    told_ready = dict(line.split("=", 1) for line in ready.read_text().splitlines())
    assert set(told_ready) == {"PLAINTEXT", "CONTROL"}
    child.terminate()
    rest, _ = child.communicate(timeout=20)
    assert (rest, child.returncode) == ("", 0)


def shim(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*SHIM, *words],
        cwd=cwd, capture_output=True, text=True, check=False, timeout=60,
        env=os.environ | OURS,
    )  # fmt: skip


# ------------------------------------------------------------------ Docker


def command_of(service: str) -> list[str]:
    return [str(word) for word in COMPOSE["services"][service]["command"]]


def test_the_composed_shim_is_a_broker_of_these_options() -> None:
    parser = argparse.ArgumentParser()
    import_command_module("serve").add_arguments(parser)
    words = command_of("shim")
    assert words[0] == "serve"
    args = parser.parse_args(words[1:])
    args.state = str(ROOT / "examples" / "demo.yaml")  # the file that the volume mounts
    assert (
        "./examples/demo.yaml:/etc/kafka-shim/demo.yaml:ro"
        in COMPOSE["services"]["shim"]["volumes"]
    )
    config = config_from_arguments(args, {})
    assert [listener.name for listener in config.listeners] == ["PLAINTEXT", "SASL_PLAINTEXT"]
    told = [f"{host}:{port}:{inside}" for host, port, inside in told_and_bound(config)]
    assert told == COMPOSE["services"]["shim"]["ports"]


def told_and_bound(config: Config) -> list[tuple[str, int, int]]:
    """Return for each listener the advertised host and port, and the bound port."""
    return [
        (*listener.advertised, listener.port)
        for listener in config.listeners
        if listener.advertised
    ]


def test_the_composed_kafka_is_the_same_broker() -> None:
    """The shim reads the variables for Kafka's image as its own configuration."""
    parser = argparse.ArgumentParser()
    add_broker_arguments(parser)
    variables = {
        name: str(value) for name, value in COMPOSE["services"]["kafka"]["environment"].items()
    }
    kafka = config_from_arguments(parser.parse_args([]), variables)
    demo = yaml.safe_load((ROOT / "examples" / "demo.yaml").read_text())
    assert set(demo["users"]) <= set(kafka.users_of_listener("SASL_PLAINTEXT"))
    assert told(kafka)["authorizer"] == "StandardAuthorizer"
    assert set(kafka.super_users) == {"User:ANONYMOUS", "User:admin"}


def test_the_health_check_looks_for_the_file_that_serve_writes(tmp_path: Path) -> None:
    text = (ROOT / "Dockerfile").read_text()
    [check] = re.findall(r"^HEALTHCHECK .*\\\n +CMD (.+)$", text, re.MULTILINE)
    [variable] = re.findall(r"^ENV (\w+)=", text, re.MULTILINE)
    environment = os.environ | OURS | {variable: str(tmp_path / "ready")}
    words = ["serve", "--listener", "PLAINTEXT://127.0.0.1:0"]
    child = subprocess.Popen(
        [*SHIM, *words],
        stdout=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    assert child.stdout is not None
    while "[KafkaServer" not in child.stdout.readline():
        assert child.poll() is None
    healthy = subprocess.run(["sh", "-c", check], env=environment, check=False).returncode
    child.terminate()
    child.communicate(timeout=20)
    stopped = subprocess.run(["sh", "-c", check], env=environment, check=False).returncode
    assert (healthy, stopped) == (0, 1)


def test_one_variable_selects_the_release_of_both_brokers() -> None:
    chosen = yaml.safe_load(
        VARIABLE.sub(lambda found: {"KAFKA_VERSION": "3.9.1"}[found[1]], COMPOSE_TEXT)
    )
    assert chosen["services"]["kafka"]["image"] == "apache/kafka:3.9.1"
    assert "--kafka-version=3.9.1" in chosen["services"]["shim"]["command"]
    image = COMPOSE["services"]["kafka"]["image"]
    assert f"--kafka-version={image.partition(':')[2]}" in command_of("shim")


def test_the_image_exposes_what_it_serves() -> None:
    config = yaml.safe_load((ROOT / "examples" / "container.yaml").read_text())
    ports = [listener.rpartition(":")[2] for listener in config["listener"]]
    [exposed] = re.findall(r"^EXPOSE (.*)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert exposed.split() == ports
    assert not any("control" in name for name in config)


def test_compose_starts_the_shim_alone() -> None:
    services = COMPOSE["services"].items()
    assert [name for name, service in services if "profiles" not in service] == ["shim"]


def test_images_run_as_a_number_with_labels() -> None:
    text = (ROOT / "Dockerfile").read_text()
    targets = re.split(r"^FROM .* AS \w+$", text, flags=re.MULTILINE)[2:]
    assert len(targets) == 2
    for target in targets:
        [user, group] = re.findall(r"^USER (\d+):(\d+)$", target, re.MULTILINE)[0]
        assert user == group != "0"
        assert f"useradd --uid {user} --create-home kafka-shim" in target
        for label in ("title", "description", "source", "licenses"):
            assert f"org.opencontainers.image.{label}=" in target


def test_the_command_of_spark_exists() -> None:
    spark = argparse.ArgumentParser()
    import_command_module("pipeline").add_arguments(spark)
    assert spark.parse_args(command_of("spark")).trace == ["/traces"]


def test_images_start_existing_commands() -> None:
    text = (ROOT / "Dockerfile").read_text()
    commands = re.findall(r"^CMD (\[.*\])$", text, re.MULTILINE)
    entries = re.findall(r"^ENTRYPOINT (\[.*\])$", text, re.MULTILINE)
    assert [msgspec.json.decode(entry) for entry in entries] == [
        ["kafka-shim", "pipeline"], ["kafka-shim"],
    ]  # fmt: skip
    serve = msgspec.json.decode(commands[-1])
    copied = re.findall(r"^COPY (examples/\S+) (/\S+/)$", text, re.MULTILINE)
    [(ours, folder)] = copied
    words = [str(ROOT / ours) if word == folder + Path(ours).name else word for word in serve]
    parser = argparse.ArgumentParser()
    import_command_module(words[0]).add_arguments(parser)
    config = config_from_arguments(parser.parse_args(words[1:]), {})
    assert told_and_bound(config) == [("localhost", port, port) for port in (9092, 9093)]
    assert (config.authorizer, config.super_users) == ("standard", ("User:ANONYMOUS",))
    configured = config_from_arguments(
        parser.parse_args(words[1:]), {"KAFKA_LISTENERS": "SSL://:9093"}
    )
    assert [listener.name for listener in configured.listeners] == ["SSL"]
    targets = set(re.findall(r"^FROM \S+ AS (\w+)$", text, re.MULTILINE))
    assert {
        service["build"]["target"] for service in COMPOSE["services"].values() if "build" in service
    } <= targets
