"""What a playback tolerates in a request that differs from the recorded one, for the guide."""

from collections.abc import Iterable

from kafka_shim.protocol.code_names import api_name_or_key
from kafka_shim.traces.api_kinds import ADMIN_CHANGES, REQUIRED_IN_STRICT
from kafka_shim.traces.identities.message_fields import (
    BROKERS_POSITIONS,
    CLIENT_SETTINGS,
    CLIENTS_OWN,
    IDS,
    MEMBERSHIP,
    PARTS_OF_MEMBERS,
    SECRETS,
)

_YES = "tolerated"
_NO = "mismatch"


def tolerated_differences() -> list[tuple[str, str, str]]:
    """Return each difference, as Markdown, with its effect by default and with `strict`."""
    fields = [
        ("ids that brokers create", IDS.keys() - MEMBERSHIP, _YES),
        ("positions in sessions and logs of a broker", BROKERS_POSITIONS, _YES),
        ("secrets, of which a cassette has none", SECRETS, _YES),
        ("measurements and the version of the client", CLIENTS_OWN, _YES),
        ("ids of members of a group, and their generations", MEMBERSHIP, _NO),
        ("the state of members, except in administrative requests", PARTS_OF_MEMBERS, _NO),
        ("settings of clients", CLIENT_SETTINGS, _NO),
    ]
    return [
        ("version of the API, client id, broker, connection", _YES, _YES),
        ("number and times of reads, heartbeats and repeated commits", _YES, _YES),
        ("batches, compression, and the partition of a record without a key", _YES, _YES),
        *((f"{what}: {_field_list(names)}", _YES, strict) for what, names, strict in fields),
        ("partition and offset of a Fetch of a topic that was fetched", _YES, _NO),
        ("a recorded change or record that no client sent", "reported", _NO),
        (f"a missing {_api_list(REQUIRED_IN_STRICT)}", "reported", _NO),
        ("the order of changes and records on a connection", f"{_NO}, except with `content`", _NO),
    ]


def exact_apis() -> str:
    """Return the APIs in which only settings are tolerated."""
    return _api_list(ADMIN_CHANGES)


def _field_list(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def _api_list(keys: Iterable[int]) -> str:
    return ", ".join(sorted(api_name_or_key(key) for key in keys))
