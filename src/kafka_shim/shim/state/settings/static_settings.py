"""The static configuration of an emulated broker, for DescribeConfigs and defaults."""

from collections.abc import Mapping, Sequence

from kafka_shim.authorizer.authorizer import AUTHORIZER_CLASS
from kafka_shim.protocol.features import Feature
from kafka_shim.shim.config import Config
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.state.node import Node
from kafka_shim.shim.state.placement import PARTITIONS_MAX
from kafka_shim.shim.state.settings.config_definitions import definitions_of_release
from kafka_shim.shim.state.settings.config_values import ConfigValueError, validated_canonical_value

CLIENT_TELEMETRY = "shim.client.telemetry"
"""Whether brokers take metrics: real ones do where a metric reporter of theirs does."""


def static_settings(
    config: Config,
    node: Node,
    default_authorizer_class: str,
    *,
    brokers_have_process_roles: bool,
) -> dict[str, str]:
    """Return the static settings of a broker; `default_authorizer_class` is the release's own."""
    settings = {
        "broker.id": str(node.node_id),
        "listeners": _listeners_as_text(node.bound),
        "advertised.listeners": _listeners_as_text(node.endpoints),
        "sasl.enabled.mechanisms": ",".join(config.mechanisms),
        # As in the server.properties that Kafka is delivered with: tests do not want to wait.
        "group.initial.rebalance.delay.ms": "0",
    }
    if brokers_have_process_roles:
        settings |= {"node.id": str(node.node_id), "process.roles": "broker,controller"}
    if node.rack is not None:
        settings["broker.rack"] = node.rack
    if config.authorizer == "standard":
        settings[AUTHORIZER_CLASS] = default_authorizer_class
    elif config.authorizer != "none":
        settings[AUTHORIZER_CLASS] = config.authorizer
    if config.super_users:
        settings["super.users"] = ";".join(config.super_users)
    if config.allow_everyone_if_no_acl_found:
        settings["allow.everyone.if.no.acl.found"] = "true"
    if not config.auto_create_topics:
        settings["auto.create.topics.enable"] = "false"
    if config.num_partitions != 1:
        settings["num.partitions"] = str(config.num_partitions)
    return settings | dict(config.properties)


def _listeners_as_text(addresses: Mapping[str, tuple[str, int]]) -> str:
    """Return listeners in the form of server.properties; with IPv6 addresses in brackets."""
    return ",".join(
        f"{name}://[{host}]:{port}" if ":" in host else f"{name}://{host}:{port}"
        for name, (host, port) in addresses.items()
    )


def dynamic_defaults_of_features(features: Sequence[Feature]) -> dict[str, str]:
    """Return the dynamic defaults of freshly formatted brokers: with eligible leader replicas
    (KIP-966), the controller sets min.insync.replicas.
    """
    eligible = "eligible.leader.replicas.version"
    in_use = any(feature.name == eligible and feature.finalized_level > 0 for feature in features)
    return {"min.insync.replicas": "1"} if in_use else {}


def validate_static_values(properties: Mapping[str, str], release: str) -> None:
    """Raise ConfigError for a value with which no broker of the release would start."""
    known = definitions_of_release(release).broker if properties else {}
    for name in properties.keys() & known.keys():
        try:
            validated_canonical_value(name, known[name], properties[name])
        except ConfigValueError as error:
            raise ConfigError(str(error)) from None
        if name.endswith("num.partitions") and int(properties[name]) > PARTITIONS_MAX:
            most = f"at most {PARTITIONS_MAX} can be kept"
            raise ConfigError(f"`{properties[name]}` for {name}: {most}")


def parse_client_telemetry_enabled(properties: Mapping[str, str]) -> bool:
    """Return whether ApiVersions offers client telemetry (KIP-714); raise ConfigError if the
    setting is neither true nor false.
    """
    text = properties.get(CLIENT_TELEMETRY, "false").lower()
    if text not in ("true", "false"):
        raise ConfigError(f"{CLIENT_TELEMETRY}: `{text}` is neither true nor false")
    return text == "true"
