"""Bodies and responses of the control API about brokers as a whole."""

from typing import Annotated, Any

import msgspec

ID_PATTERN = "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
NODES_MAX = 100


class NewBroker(msgspec.Struct, forbid_unknown_fields=True):
    """A broker to create; the defaults are those of `kafka-shim serve`, on free ports.

    `brokers` is how many brokers its cluster has. `topics`, `users`, `super_users`, `acls`,
    `groups`, `client_metrics` and `faults` are as in the state file; `properties` are broker
    settings by Kafka's names; the other keys are as the options of `kafka-shim serve`. Without
    `id` the broker gets one.
    """

    id: Annotated[str, msgspec.Meta(pattern=ID_PATTERN)] | None = None
    kafka_version: str | None = None
    brokers: Annotated[int, msgspec.Meta(ge=1, le=NODES_MAX)] = 1
    first_broker_id: int | None = None
    racks: list[str] = []
    listeners: list[str] | None = None
    listener_principals: dict[str, str] = {}
    users: dict[str, str] = {}
    super_users: list[str] | None = None
    authorizer: str | None = None
    allow_everyone_if_no_acl_found: bool = False
    acl_propagation_delay: Annotated[int, msgspec.Meta(ge=0)] | None = None
    topics: dict[str, Any] | list[str] = {}
    acls: list[dict[str, Any]] = []
    groups: dict[str, Any] = {}
    client_metrics: dict[str, Any] = {}
    faults: list[dict[str, Any]] = []
    properties: dict[str, str] = {}
    client_telemetry: bool = False
    seed: int | None = None
    manual_clock: bool = False


class BrokerRow(msgspec.Struct):
    """A broker of this process.

    `path` is the base path of its control API (`{path}/topics` and so on); `bootstrap_servers`
    are `host:port,...` by listener name.
    """

    id: str
    path: str
    release: str
    bootstrap_servers: dict[str, str]


class BrokerRows(msgspec.Struct):
    """Brokers, in the order in which they were created."""

    brokers: list[BrokerRow]
