"""APIs as logs name them: `DescribeAcls`, `DESCRIBE_ACLS`."""

from kafka_shim.protocol.enums import ApiKey

_APIS = {key.wire_name.lower(): key for key in ApiKey}


def api_of(name: str) -> ApiKey | None:
    """The API of this name; None if there is none."""
    return _APIS.get(name.replace("_", "").lower())
