"""Random requests about settings and quotas."""

from typing import Final

from kafka_shim.protocol.enums import ConfigResourceType
from kafka_shim.protocol.messages import (
    alter_configs as alter_configs_messages,
    incremental_alter_configs as incremental_alter_configs_messages,
)
from kafka_shim.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from kafka_shim.protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
)
from kafka_shim.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kafka_shim.protocol.messages.list_config_resources import ListConfigResourcesRequest
from tests.recordings.conformance.draw import Asked, Draw

TOPIC, BROKER = ConfigResourceType.TOPIC, ConfigResourceType.BROKER
LOGGER, CLIENT_METRICS = ConfigResourceType.BROKER_LOGGER, ConfigResourceType.CLIENT_METRICS
GROUP = ConfigResourceType.GROUP
UNMAPPED = 99
LOGGER_NAME = "kafka.server.KafkaApis"

SETTINGS: Final[dict[int, dict[str, tuple[str | None, ...]]]] = {
    TOPIC: {
        "retention.ms": ("-1", "1000000000", "x", None),
        "cleanup.policy": ("compact", "delete", "nonsense"),
        "max.message.bytes": ("2000000", "-1"),
        "nonsense.key": ("1",),
    },
    BROKER: {
        "log.cleaner.backoff.ms": ("20000", "-5"),
        "message.max.bytes": ("1100000", "x"),
        "broker.id": ("2",),
        "nonsense.key": ("1",),
    },
    LOGGER: {LOGGER_NAME: ("INFO", "NONSENSE")},
    CLIENT_METRICS: {"interval.ms": ("60000", "x"), "metrics": ("org.apache",)},
    GROUP: {"consumer.session.timeout.ms": ("50000", "1"), "nonsense.key": ("1",)},
}
"""Settings of each resource type, with values, valid ones first."""

ENTITIES: Final[dict[tuple[str, ...], int]] = {
    ("user",): 50,
    ("user", "client-id"): 25,
    ("client-id",): 15,
    ("x",): 6,
    (): 4,
}
"""Entities of quotas."""


def _type(draw: Draw) -> int:
    """Return a resource type, mostly one that the release supports."""
    if draw.chance(0.03):
        return draw.pick(0, UNMAPPED)
    known = [
        kind for kind in SETTINGS if kind in draw.facts.configs.describable_config_resource_types
    ]
    if draw.chance(0.04):
        known = list(SETTINGS)
    return draw.pick(TOPIC, *known)


def _name(draw: Draw, kind: int) -> str:
    if kind == TOPIC:
        return draw.topic()
    if kind in (BROKER, LOGGER):
        return draw.weighted({"1": 75, "": 13, "7": 7, "x": 5})
    if kind == GROUP:
        return draw.group()
    return f"{draw.prefix}-metrics"


def describe_configs(draw: Draw, version: int) -> Asked:
    resources = []
    for _ in range(draw.number(0 if draw.chance(0.05) else 1, 3)):
        kind = _type(draw)
        keys = (
            list(SETTINGS.get(ConfigResourceType(kind), SETTINGS[TOPIC]))
            if kind in SETTINGS
            else ["x"]
        )
        resources.append(
            DescribeConfigsResource(
                resource_type=kind,
                resource_name=_name(draw, kind),
                configuration_keys=_keys(draw, kind, keys),
            )
        )
    request = DescribeConfigsRequest(
        resources=resources,
        include_synonyms=draw.chance(0.4),
        include_documentation=draw.chance(0.2),
    )
    return Asked(request)


def _keys(draw: Draw, kind: int, keys: list[str]) -> list[str] | None:
    if kind == LOGGER or (kind == BROKER and draw.chance(0.85)):
        return draw.some(keys, 1, 2)  # since a broker has many settings and loggers
    return draw.pick(None, [], draw.some(keys, 1, 2), keys)


def alter_configs(draw: Draw, version: int) -> Asked:
    message = alter_configs_messages
    resources = []
    for kind, name in _targets(draw):
        configs = [
            message.AlterableConfig(name=key, value=value) for key, value in _changes(draw, kind)
        ]
        resources.append(
            message.AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
        )
    validate_only = draw.chance(0.6) or any(kind == BROKER for kind, _ in _kinds(resources))
    return Asked(message.AlterConfigsRequest(resources=resources, validate_only=validate_only))


def incremental_alter_configs(draw: Draw, version: int) -> Asked:
    message = incremental_alter_configs_messages
    resources = []
    for kind, name in _targets(draw):
        configs = []
        for key, value in _changes(draw, kind):
            operation = draw.weighted({0: 65, 1: 15, 2: 10, 3: 6, UNMAPPED: 4})
            is_null = operation == 1 and draw.chance(0.8)
            configs.append(
                message.AlterableConfig(
                    name=key, config_operation=operation, value=None if is_null else value
                )
            )
        resources.append(
            message.AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
        )
    request = message.IncrementalAlterConfigsRequest(
        resources=resources, validate_only=draw.chance(0.5)
    )
    return Asked(request)


def _kinds(resources: list[alter_configs_messages.AlterConfigsResource]) -> list[tuple[int, str]]:
    return [(resource.resource_type, resource.resource_name) for resource in resources]


def _targets(draw: Draw) -> list[tuple[int, str]]:
    kinds = [_type(draw) for _ in range(draw.number(1, 3))]
    found = [(kind, _name(draw, kind)) for kind in kinds]
    return found + found[:1] if draw.chance(0.05) else found


def _changes(draw: Draw, kind: int) -> list[tuple[str, str | None]]:
    settings = SETTINGS.get(kind, SETTINGS[TOPIC])
    names = draw.some(list(settings), 1, 2)
    found: list[tuple[str, str | None]] = []
    for name in names:
        values = settings[name]
        found.append((name, values[0] if draw.chance(0.8) else draw.pick(*values)))
    return found


def list_config_resources(draw: Draw, version: int) -> Asked:
    known: list[list[int]] = [[], [], [TOPIC], [CLIENT_METRICS], [GROUP, TOPIC], [BROKER]]
    types = draw.pick(*known, [UNMAPPED])
    return Asked(ListConfigResourcesRequest(resource_types=[int(code) for code in types]))


def describe_client_quotas(draw: Draw, version: int) -> Asked:
    components = [
        ComponentData(
            entity_type=kind,
            match_type=draw.weighted({0: 60, 1: 20, 2: 15, 7: 5}),
            match=draw.weighted({f"{draw.prefix}-quota": 70, None: 20, "": 10}),
        )
        for kind in draw.some(["user", "client-id", "ip", "nonsense"], 0, 2)
    ]
    for component in components:
        if component.match_type in (1, 2):
            component.match = None
        elif component.match is None:
            component.match = f"{draw.prefix}-quota"
    return Asked(DescribeClientQuotasRequest(components=components, strict=draw.chance(0.5)))


def alter_client_quotas(draw: Draw, version: int) -> Asked:
    entries = [
        RequestEntryData(
            entity=[
                RequestEntityData(entity_type=kind, entity_name=f"{draw.prefix}-quota")
                for kind in draw.weighted(ENTITIES)
            ],
            ops=[
                OpData(
                    key=draw.weighted(
                        {"producer_byte_rate": 50, "request_percentage": 30, "nonsense": 10}
                    ),
                    value=draw.weighted({1e9: 85, -1.0: 8, 0.5: 7}),
                    remove=draw.chance(0.2),
                )
                for _ in range(draw.number(0 if draw.chance(0.1) else 1, 2))
            ],
        )
        for _ in range(draw.number(0 if draw.chance(0.1) else 1, 2))
    ]
    return Asked(AlterClientQuotasRequest(entries=entries, validate_only=draw.chance(0.4)))
