"""Records which values real brokers accept for each setting, by validate-only requests.

A scenario is a resource type and an API. Its recording has for each setting the error codes, each
with the changes that caused it (`= 5` sets, `+ a` appends, `- a` subtracts).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from kafka_shim.protocol.api_versions import parse_minor_release
from kafka_shim.protocol.enums import ApiKey, ConfigResourceType as Resource
from kafka_shim.shim.state.settings.config_definitions import (
    ConfigDefinition,
    ReleaseDefinitions,
    definitions_of_release,
)
from tests.recordings.peers.peer import ROOT, Peer, ask, versions
from tests.recordings.peers.topics import create
from tests.recordings.play import message
from tests.recordings.recorder import Kind
from tests.recordings.settings.cells import SET, Cell, cells, unknown
from tests.recordings.store import Recordings, Steps

TOPIC: Final = "settings"
APIS: Final = {"incremental": ApiKey.INCREMENTAL_ALTER_CONFIGS, "alter": ApiKey.ALTER_CONFIGS}


class _Resource(NamedTuple):
    kind: Resource
    name: str
    settings: str
    """The attribute of Definitions with its settings."""


RESOURCES: Final = {
    "topic": _Resource(Resource.TOPIC, TOPIC, "topic_configs"),
    "broker": _Resource(Resource.BROKER, "1", "broker"),
    "brokers": _Resource(Resource.BROKER, "", "broker"),
    "group": _Resource(Resource.GROUP, "g", "group"),
    "metrics": _Resource(Resource.CLIENT_METRICS, "m", "client_metrics"),
}
SCENARIOS: Final = [f"{resource}-{api}" for resource in RESOURCES for api in APIS]


def scenarios(release: str) -> list[str]:
    """Return the resource types with settings in a release, each with both APIs."""
    known = definitions_of_release(parse_minor_release(release))
    return [name for name in SCENARIOS if _settings(known, RESOURCES[name.partition("-")[0]])]


def played(name: str, peer: Peer) -> Steps:
    """Return the error codes of a broker for every setting."""
    place, _, api_name = name.partition("-")
    resource, api = RESOURCES[place], APIS[api_name]
    if resource.kind is Resource.TOPIC:
        create(peer, [TOPIC], 1)
    known = _settings(definitions_of_release(parse_minor_release(peer.release)), resource)
    tried = {
        setting: cells(setting, definition, is_fixed=_is_fixed(resource, definition))
        for setting, definition in known.items()
    }
    return [
        (setting, _codes(peer, resource, api, setting, changes))
        for setting, changes in {**tried, **unknown()}.items()
    ]


def _settings(known: ReleaseDefinitions, resource: _Resource) -> Mapping[str, ConfigDefinition]:
    found: Mapping[str, ConfigDefinition] = getattr(known, resource.settings)
    return found


def _is_fixed(resource: _Resource, definition: ConfigDefinition) -> bool:
    return resource.kind is Resource.BROKER and not definition.dynamic


def _codes(
    peer: Peer, resource: _Resource, api: ApiKey, setting: str, changes: list[Cell]
) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for change in changes:
        if api is ApiKey.ALTER_CONFIGS and change.operation != SET:
            continue
        found.setdefault(_code(peer, resource, api, setting, change), []).append(change.label)
    return found


def _code(peer: Peer, resource: _Resource, api: ApiKey, setting: str, change: Cell) -> str:
    config = {"name": setting, "value": change.value, "config_operation": change.operation}
    row = {"resource_type": resource.kind, "resource_name": resource.name, "configs": [config]}
    version = versions(peer.release, api)[-1]
    request = message(api, version, {"resources": [row], "validate_only": True})
    response: Any = ask(peer, ROOT, api, version, request)
    return response if isinstance(response, str) else str(response.responses[0].error_code)


KIND = Kind(
    Recordings(Path(__file__).parent / "recorded"),
    scenarios,
    played,
)
