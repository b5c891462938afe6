"""Translates the settings of real clusters in Kafka's own tests into options of a shim."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.suites.kafka import java_properties
from tests.suites.kafka.authorizers import (
    BY_JAVA_NAME,
    MAPPING_RULES,
    RENAMING,
    USERS_OF_HANDLERS,
)

_AUTHORIZER = "authorizer.class.name"
_BUILDER = "principal.builder.class"
_TOKENS = "delegation.token.secret.key"
_OWN = "outside."
_PRINCIPAL = "outside.principal."
_STORE = "outside.store."
_SECTION = re.compile(r"([\w.]+)\s*\{(.*?)\};", re.DOTALL)
_MODULE = re.compile(r"([\w.]+LoginModule)\s+required(.*?);", re.DOTALL)
_PORT = re.compile(r":\d+(?=,|$)")
_OPTION = re.compile(r'([\w.-]+)="([^"]*)"')


def is_broker(settings: Mapping[str, str]) -> bool:
    return "broker" in settings.get("process.roles", "")


def words(
    nodes: Mapping[int, Mapping[str, str]], brokers: Sequence[int], folder: Path
) -> list[str]:
    """Return the options of `serve`; settings of brokers override those of controllers."""
    merged: dict[str, str] = {}
    for node_id in sorted(nodes, key=lambda node_id: (node_id in brokers, -node_id)):
        merged |= nodes[node_id]
    found = ["--brokers", str(len(brokers)), "--first-broker-id", str(brokers[0])]
    for name, secret in (_users(merged.get("outside.jaas")) | _users_of_handlers(merged)).items():
        found += ["--user", f"{name}:{secret}"]
    found += _principals(merged)
    if merged.get("outside.telemetry") == "true":
        found.append("--client-telemetry")
    if any("Telemetry" in name for name in merged.get("metric.reporters", "").split(",")):
        found.append("--client-telemetry")  # the test's reporter receives them
    racks = [nodes[node_id].get("broker.rack", "") for node_id in brokers]
    if all(racks):
        found += ["--rack", ",".join(racks)]
    left_out = {"node.id", "broker.id", "broker.rack", "log.dirs", "log.dir", "metadata.log.dir"}
    kept = {
        key: value
        for key, value in merged.items()
        if not key.startswith(_OWN) and key not in left_out
    }
    kept.setdefault(_TOKENS, "")  # without this setting a real broker has no tokens
    if "outside.cluster" in merged:
        kept["cluster.id"] = merged["outside.cluster"]
    for key, value in merged.items():
        if key.startswith(_STORE):
            kept |= _pkcs12(key.removeprefix(_STORE), value)
    kept |= _who_and_what(kept)
    if len(brokers) > 1:  # tests ask for the ports; successive ports may be taken
        named = ("listeners", "advertised.listeners")
        kept |= {key: _PORT.sub(":0", kept[key]) for key in named if key in kept}
    path = folder / "server.properties"
    path.write_text(java_properties.write(kept))
    return [*found, "--config", str(path)]


def _principals(merged: Mapping[str, str]) -> list[str]:
    """Return the options with the principals of clients that do not log in, by listener."""
    found = []
    listeners = {text.partition(":")[0] for text in merged["listeners"].split(",")}
    for name in sorted(listeners.difference(merged["controller.listener.names"].split(","))):
        principal = merged.get(f"{_PRINCIPAL}{name}")
        if name == "OUTSIDE":
            principal = "User:outside"
        if principal is not None:
            found += ["--listener-principal", f"{name}={principal}"]
    return found


def _who_and_what(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that replace a test's own authorizer and principal builder."""
    authorizer, builder = settings.get(_AUTHORIZER), settings.get(_BUILDER, "")
    found = {}
    if authorizer:
        found[_AUTHORIZER] = RENAMING.get(builder) or BY_JAVA_NAME.get(authorizer, authorizer)
    if builder in MAPPING_RULES:
        found["ssl.principal.mapping.rules"] = MAPPING_RULES[builder]
    return found


def _pkcs12(store: str, path: str) -> dict[str, str]:
    """Return the settings of a store that the harness has converted from JKS for the shim."""
    return {f"{store}.location": path, f"{store}.type": "PKCS12"}


def _users(path: str | None) -> dict[str, str]:
    """Return the users in the server sections of a JAAS file."""
    users: dict[str, str] = {}
    if path is None:
        return users
    for name, section in _SECTION.findall(Path(path).read_text()):
        if not name.endswith("KafkaServer"):
            continue
        for _, text in _MODULE.findall(section):
            options = dict(_OPTION.findall(text))
            if "username" in options and "password" in options:
                users[options["username"]] = options["password"]
            users |= {
                key.removeprefix("user_"): value
                for key, value in options.items()
                if key.startswith("user_")
            }
    return users


def _users_of_handlers(settings: Mapping[str, str]) -> dict[str, str]:
    users: dict[str, str] = {}
    for key, value in settings.items():
        if key.endswith("sasl.server.callback.handler.class"):
            users |= USERS_OF_HANDLERS.get(value, {})
    return users
