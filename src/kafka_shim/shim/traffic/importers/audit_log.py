"""Lines of Kafka's authorizer log (`kafka.authorizer.logger`), in the wordings of all releases.

    Principal = User:alice is Denied Operation = Read from host = 10.0.0.1 on resource = Topic:t
    Principal = User:alice is Denied operation = READ from host = 10.0.0.1 on resource =
        Topic:LITERAL:t for request = Fetch with resourceRefCount = 1
    ... with resourceRefCount = 1 based on rule MatchingAcl(acl=StandardAcl(resourceType=TOPIC, ...
    ... (since 4.2) based on rule MatchingAcl(acl=StandardAcl[resourceType=TOPIC, ...

The first is from SimpleAclAuthorizer (later releases add the pattern type), the second from
AclAuthorizer (KAFKA-8760), the others from StandardAuthorizer (KIP-801).
"""

import re

import msgspec

from kafka_shim.authorizer.acl_formats.standard_acl import find_standard_acl
from kafka_shim.authorizer.acl_formats.trace_rule import acl_rule
from kafka_shim.authorizer.acl_names import AclTextError, parse_operation, parse_resource_type
from kafka_shim.protocol.enums import Operation, ResourceType
from kafka_shim.shim.traffic.importers.api_names import api_of

UNKNOWN_API = -1

_LINE = re.compile(
    r"Principal = (?P<principal>.+?) is (?P<outcome>Allowed|Denied) [Oo]peration ="
    r" (?P<operation>\w+) from host = (?P<host>\S+) (?:via listener \S+ )?on resource ="
    r" (?P<type>\w+):(?:(?:LITERAL|PREFIXED):)?(?P<name>.*?)"
    r"(?: for request = (?P<request>\w+) with resourceRefCount = (?P<count>\d+))?"
    r"(?: based on rule (?P<rule>.+?))?(?: \(kafka\.authorizer\.logger\))?\s*$"
)


class AuditLine(msgspec.Struct, frozen=True):
    """A decision; `api_key` is -1 if the line does not name the API.

    `rule` is in the format of a trace, or empty if the release does not log it.
    """

    principal: str
    host: str
    operation: Operation
    resource_type: ResourceType
    resource_name: str
    allowed: bool
    api_key: int
    count: int
    rule: str


def parse_line(line: str) -> AuditLine | None:
    """Return the decision in a line of the log; None if it has none."""
    found = _LINE.search(line)
    if found is None:
        return None
    try:
        operation = parse_operation(found["operation"])
        resource_type = parse_resource_type(found["type"])
    except AclTextError:
        return None
    api = api_of(found["request"] or "")
    return AuditLine(
        found["principal"],
        found["host"],
        operation,
        resource_type,
        found["name"],
        found["outcome"] == "Allowed",
        UNKNOWN_API if api is None else api,
        int(found["count"] or 1),
        _rule(found["rule"] or ""),
    )


def _rule(text: str) -> str:
    acl = find_standard_acl(text)
    return text if acl is None else acl_rule(acl)
