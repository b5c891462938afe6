"""Record which settings of the authorizer real brokers return, for test_authorizer_settings.py.

`python -m tests.client.record_authorizer_settings RELEASE ...` (Java 17, Maven).
"""

import json
import sys
from pathlib import Path
from typing import Any

from kafka_shim.authorizer.authorizer import ALLOW_EVERYONE, SUPER_USERS
from kafka_shim.client.client import connect
from kafka_shim.protocol.enums import ApiKey, ConfigResourceType
from kafka_shim.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from tests.oracle.real_kafka import RealKafka, numbers

RECORDED = Path(__file__).with_name("authorizer_settings_recorded.json")
SET_UPS: dict[str, dict[str, str]] = {
    "open": {ALLOW_EVERYONE: "true", SUPER_USERS: "User:ANONYMOUS;User:admin"},
    "closed": {ALLOW_EVERYONE: "false", SUPER_USERS: "User:ANONYMOUS;User:admin"},
    "mode unset": {SUPER_USERS: "User:ANONYMOUS;User:admin"},
}


def authorizer_class(release: str) -> str:
    if numbers(release) >= (3,):
        return "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
    if numbers(release) >= (2, 4):
        return "kafka.security.authorizer.AclAuthorizer"
    return "kafka.security.auth.SimpleAclAuthorizer"


def returned_entries(address: str, node_ids: tuple[int, ...]) -> dict[str, list[Any]]:
    """Return the broker's response for each node id: the error code, and value and sensitivity."""
    names = [ALLOW_EVERYONE, SUPER_USERS]
    resources = [
        DescribeConfigsResource(ConfigResourceType.BROKER, str(node), names) for node in node_ids
    ]
    with connect(address) as client:
        response = client.send_request(ApiKey.DESCRIBE_CONFIGS, DescribeConfigsRequest(resources))
    return {
        result.resource_name: [
            result.error_code,
            {entry.name: [entry.value, entry.is_sensitive] for entry in result.configs},
        ]
        for result in sorted(response.results, key=lambda result: result.resource_name)
    }


def record(release: str) -> dict[str, Any]:
    found = {}
    for name, settings in SET_UPS.items():
        own = settings | {"authorizer.class.name": authorizer_class(release)}
        with RealKafka(release, "none", own) as kafka:
            found[name] = returned_entries(kafka.plain, (1, 2))
    return found


if __name__ == "__main__":
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    for release in sys.argv[1:]:
        recorded[release] = record(release)
        RECORDED.write_text(json.dumps(dict(sorted(recorded.items())), indent=1) + "\n")
