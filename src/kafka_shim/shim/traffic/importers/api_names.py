"""Names of APIs in logs: `DescribeAcls`, `DESCRIBE_ACLS`."""

from kafka_shim.protocol.enums import ApiKey

_APIS = {key.wire_name.lower(): key for key in ApiKey}


def api_key_by_name(name: str) -> ApiKey | None:
    """Return the API with this name; None if it is unknown."""
    return _APIS.get(name.replace("_", "").lower())
