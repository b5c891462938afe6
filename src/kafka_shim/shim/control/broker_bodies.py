"""Bodies and responses of the control API about brokers as a whole."""

from typing import Annotated, Any, Final

import msgspec

from kafka_shim.shim.settings.options import BrokerOption, Kind, Place, options_of_place

_TYPES: Final[dict[Kind, Any]] = {
    Kind.TEXT: str,
    Kind.INTEGER: int,
    Kind.NUMBER: float,
    Kind.FLAG: bool,
    Kind.TEXTS: list[str],
    Kind.PAIRS: dict[str, str],
    Kind.TOPICS: dict[str, Any] | list[str],
    Kind.ACLS: list[dict[str, Any]],
    Kind.OBJECTS: list[dict[str, Any]],
    Kind.OBJECT: dict[str, Any],
}
_DEFAULTS: Final[dict[Kind, Any]] = {
    Kind.FLAG: False,
    Kind.PAIRS: {},
    Kind.TOPICS: {},
    Kind.ACLS: [],
    Kind.OBJECTS: [],
    Kind.OBJECT: {},
}
_DESCRIPTION: Final = (
    "A broker to create; the defaults are those of `kafka-shim serve`, on free ports."
)


class BrokerBody(msgspec.Struct):
    """The base of NewBroker: the table of options has the keys."""

    def values(self) -> dict[str, Any]:
        """Return the values by key."""
        return msgspec.structs.asdict(self)


def broker_body_type() -> type[msgspec.Struct]:
    """Return the type of the body of POST /brokers, made of the table of options."""
    return msgspec.defstruct(
        "NewBroker",
        [_struct_field(option) for option in options_of_place(Place.BODY)],
        bases=(BrokerBody,),
        module=__name__,
        namespace={"__doc__": _DESCRIPTION},
        forbid_unknown_fields=True,
    )


def _struct_field(option: BrokerOption) -> tuple[str, Any, Any]:
    """Return name, type and default of a key; without a default, the key may be null."""
    default = _DEFAULTS.get(option.kind, option.default)
    kind: Any = _TYPES[option.kind]
    if option.kind is Kind.INTEGER:
        kind = Annotated[kind, msgspec.Meta(ge=option.minimum, le=option.maximum)]
    elif option.pattern:
        kind = Annotated[kind, msgspec.Meta(pattern=option.pattern)]
    if default is None:
        kind = kind | None
    return (
        option.key,
        Annotated[kind, msgspec.Meta(description=f"{option.text_for_value}.")],
        default,
    )


NewBroker: Any = broker_body_type()


class BrokerRow(msgspec.Struct):
    """A broker of this process.

    `path` is the base path of its control API (`{path}/topics` and so on); `bootstrap_servers`
    are `host:port,...` by listener name.
    """

    id: str
    path: str
    release: str
    bootstrap_servers: dict[str, str]


class CreatedBroker(BrokerRow):
    """A broker that was created, with warnings about ACLs without effect."""

    warnings: list[str]


class BrokerRows(msgspec.Struct):
    """Brokers, in the order in which they were created."""

    brokers: list[BrokerRow]
