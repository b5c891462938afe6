"""Decisions in Kafka's authorizer log (`kafka.authorizer.logger`), in the wordings of all releases.

    Principal = User:alice is Denied Operation = Read from host = 10.0.0.1 on resource = Topic:t
    Principal = User:alice is Denied Operation = Read from host = 10.0.0.1 on resource =
        Topic:LITERAL:t for request = Fetch with resourceRefCount = 1
    Principal = User:alice is Denied operation = READ from host = 10.0.0.1 on resource =
        Topic:LITERAL:t for request = Fetch with resourceRefCount = 1 based on rule
        MatchingAcl(acl=StandardAcl(resourceType=TOPIC, ...
    ... (since 4.2) based on rule MatchingAcl(acl=StandardAcl[resourceType=TOPIC, ...

The first is from SimpleAclAuthorizer (later releases add the pattern type), the second from
AclAuthorizer (KAFKA-8760), the others from StandardAuthorizer (KIP-801). A decision is read only
if the whole text fits, up to what a layout appends: the logger, the thread. Confluent's audit
events are read, too.
"""

import ipaddress
import re
from functools import lru_cache
from typing import Any

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError, parse_operation, parse_resource_type
from kafka_shim.policy.formats.acls_in_audit_log import (
    parse_standard_acl_in_line,
    standard_acl_to_string,
)
from kafka_shim.policy.formats.trace_rule import format_acl_rule
from kafka_shim.protocol.code_names import api_key_by_name
from kafka_shim.protocol.enums import Operation, ResourceType
from kafka_shim.traces.importers.logged_principal import principal_or_none

UNKNOWN_API = -1

_START = "Principal = "
_LABELS = r"\{(?:\w+=\"[^\"{}]*\",? ?)+\}"
"""Labels that logcli prints before a line of Loki."""
_LAYOUT = re.compile(rf"(?:(?:[^{{}}]|{_LABELS})*[\s\]>:|-])?")
_DECISION = (
    r"(?P<principal>[A-Za-z_][\w.$-]*[:({\[].+?) is (?P<outcome>Allowed|Denied) "
    r"(?P<wording>[Oo]peration) = (?P<operation>\w+) from host = (?P<host>\S+) "
    r"(?:via listener \S+ )?on resource = "
    r"(?P<type>\w+):(?:(?:LITERAL|PREFIXED):)?(?P<name>.*?)"
)
_REQUEST = r"(?: for request = (?P<request>\w+) with resourceRefCount = (?P<count>\d{1,18}))?"
_RULE = (
    r"(?: based on rule (?P<rule>SuperUser|DefaultAllow|DefaultDeny|MatchingAcl\(acl=.+[)\]]\)))?"
)
_END = r"(?P<end>(?: +(?:-|\([\w.$]+(?::\d+)?\)|\[[^\[\]]*\]|<[^<>]*>))*)\s*"
_VARYING_PART = re.compile(r"(?<=[\[<])[^\[\]<>]*(?=[\]>])|:\d+(?=\))")
_MESSAGE = re.compile(_DECISION + _REQUEST + _RULE + _END)
_DECISIONS_CACHED = 1 << 16
"""Most lines of a log repeat a decision at another time."""

_RELEVANT = re.compile(
    r"Principal (?:=|\\u003d)|on resource (?:=|\\u003d)|resourceRefCount|kafka\.authorizer\.logger"
    r"|\[(?:DENY|ALLOW)\] Auth request|AivenAclAuthorizer|io\.confluent\.kafka\.server/"
)
_AIVEN = re.compile(r"AivenAclAuthorizer|\[(?:DENY|ALLOW)\] Auth request")
_NO_DECISION = re.compile(
    r"principal = .* is a super user, allowing operation without checking acls\."
    r"|No acl found for resource .*, authorized = \w+"
    r"|operation = .* on resource = .* from host = .* is \w+ based on acl = "
)
"""Messages of SimpleAclAuthorizer and AclAuthorizer that explain a decision in another line."""
_TOPIC_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}|\*")
_CLUSTER_NAME = "kafka-cluster"
_NO_NAME = re.compile(
    r"[\x00-\x1f\x7f\ufffd]|Principal = | on resource = | for request = |\(kafka\.authorizer|</\w"
    r"|(?:^|[\s\]])(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)[\s\]:]|\"\s*[,:]\s*[\"\d{\[]"
)
"""What is in no name: unprintable characters, and the rest of another line or of a JSON object."""


class InvalidDecisionError(ValueError):
    """A part of a log that should be a decision, and why it cannot be read as one."""


class LoggedDecision(msgspec.Struct, frozen=True):
    """A decision; `api_key` is -1 if the log does not name the API.

    `rule` is in the format of a trace, or empty if the release does not log it. `names_request` is
    false up to Kafka 2.3, and if a line was cut off in the resource's name. `text_after` is what
    the layout appends, without threads and line numbers.
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
    names_request: bool = True
    text_after: str = ""


def may_contain_entry(text: str) -> bool:
    """Return whether a part of a log is from an authorizer, or a decision that was cut off."""
    return _RELEVANT.search(text) is not None


def parse_authorizer_log_line(text: str) -> LoggedDecision | None:
    """Return the decision in a line; None if it is no part of an authorizer log.

    Raise InvalidDecisionError if it should have a decision but cannot be read.
    """
    layout, start, message = text.partition(_START)
    if start and _LAYOUT.fullmatch(layout) is not None and _AIVEN.search(layout) is None:
        return _decision_in_message(message)
    if not may_contain_entry(text) or _NO_DECISION.search(text) is not None:
        return None
    if _AIVEN.search(text) is not None:
        raise InvalidDecisionError(
            "a log of Aiven's AivenAclAuthorizer, which is not supported: its lines have no host"
        )
    raise InvalidDecisionError("not a whole decision of a known authorizer")


@lru_cache(_DECISIONS_CACHED)
def _decision_in_message(message: str) -> LoggedDecision:
    """Return the decision in the text after `Principal = `."""
    match = _MESSAGE.fullmatch(message)
    if match is None or _START in message:
        raise InvalidDecisionError("not a whole decision of a known authorizer")
    return _decision_from_match(match)


def _decision_from_match(match: re.Match[str]) -> LoggedDecision:
    is_standard = match["wording"] == "operation"
    if is_standard != (match["rule"] is not None) or (is_standard and match["request"] is None):
        raise InvalidDecisionError("not a whole decision of a known authorizer")
    operation, resource_type = (
        _parse_operation(match["operation"]),
        _parse_resource_type(match["type"]),
    )
    principal = principal_or_none(match["principal"])
    if principal is None:
        raise InvalidDecisionError(f"unknown form of a principal: `{match['principal']}`")
    check_decision(principal, match["host"], resource_type, match["name"])
    api = api_key_by_name(match["request"] or "")
    if api is None and match["request"] is not None:
        raise InvalidDecisionError(f"unknown API `{match['request']}`")
    return LoggedDecision(
        principal,
        match["host"],
        operation,
        resource_type,
        match["name"],
        match["outcome"] == "Allowed",
        UNKNOWN_API if api is None else api,
        int(match["count"] or 1),
        _rule_in_trace_format(match["rule"] or ""),
        match["request"] is not None,
        _VARYING_PART.sub("", match["end"]),
    )


def check_decision(principal: str, host: str, resource_type: ResourceType, name: str) -> None:
    """Raise InvalidDecisionError if the principal, host or resource name is not legal."""
    if _NO_NAME.search(principal) is not None:
        raise InvalidDecisionError(f"invalid principal `{principal}`")
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        raise InvalidDecisionError(f"invalid host `{host}`: expected an IP address") from None
    is_legal = _NO_NAME.search(name) is None
    if resource_type is ResourceType.TOPIC:
        is_legal = _TOPIC_NAME.fullmatch(name) is not None
    elif resource_type is ResourceType.CLUSTER:
        is_legal = name == _CLUSTER_NAME
    if not is_legal:
        raise InvalidDecisionError(f"invalid {resource_type.name.lower()} name `{name}`")


def _parse_operation(name: str) -> Operation:
    try:
        return parse_operation(name)
    except AclTextError:
        raise InvalidDecisionError(f"unknown operation `{name}`") from None


def _parse_resource_type(name: str) -> ResourceType:
    try:
        return parse_resource_type(name)
    except AclTextError:
        raise InvalidDecisionError(f"unknown resource type `{name}`") from None


def _rule_in_trace_format(text: str) -> str:
    if not text.startswith("MatchingAcl"):
        return text
    try:
        acl = parse_standard_acl_in_line(text)
    except AclTextError as error:
        raise InvalidDecisionError(str(error)) from error
    brackets = "[]" if "(acl=StandardAcl[" in text else "()"
    if acl is None or text != f"MatchingAcl(acl={standard_acl_to_string(acl, brackets)})":
        raise InvalidDecisionError(f"invalid rule `{text}`")
    return format_acl_rule(acl)


def parse_confluent_audit_event(event: dict[str, Any]) -> LoggedDecision | None:
    """Return the decision in an audit event of Confluent's brokers; None if it is no decision.

    Raise InvalidDecisionError if it should have one but cannot be read, or if a role decided.
    """
    kind, data = str(event.get("type", "")), event.get("data")
    if not kind.startswith("io.confluent.kafka.server/"):
        raise InvalidDecisionError(f"CloudEvents of the type `{kind}` are not supported")
    if not kind.endswith("/authorization") or not isinstance(data, dict):
        return None
    method = str(data.get("methodName", ""))
    if not method.startswith("kafka."):  # of the metadata service and others
        return None
    try:
        return _decision_from_confluent_event(
            method.removeprefix("kafka."), data, data["authorizationInfo"]
        )
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise InvalidDecisionError(
            f"an audit event without an expected field: {error!r}"
        ) from error


def _decision_from_confluent_event(
    method: str, data: dict[str, Any], decision: dict[str, Any]
) -> LoggedDecision:
    if decision.get("rbacAuthorization"):
        raise InvalidDecisionError("a decision of a role binding (RBAC), which is not an ACL")
    api = api_key_by_name(method)
    if api is None:
        raise InvalidDecisionError(f"unknown API `{method}`")
    principal, host = (
        str(data["authenticationInfo"]["principal"]),
        _client_host_in_confluent_event(data),
    )
    resource_type = _parse_resource_type(str(decision["resourceType"]))
    name = str(decision["resourceName"])
    check_decision(principal, host, resource_type, name)
    operation, granted = _parse_operation(str(decision["operation"])), decision["granted"]
    if not isinstance(granted, bool):
        raise InvalidDecisionError(f"invalid `granted`: {granted!r}")
    rule = "SuperUser" if decision.get("superUserAuthorization") is True else ""
    return LoggedDecision(
        principal, host, operation, resource_type, name, granted, api, count=1, rule=rule
    )


def _client_host_in_confluent_event(data: dict[str, Any]) -> str:
    """Return the client's address, which Confluent Platform and Confluent Cloud log differently."""
    metadata = data.get("requestMetadata") or {}
    address = metadata.get("client_address") or metadata.get("clientAddress")
    if address is None:
        addresses = data.get("clientAddress")
        if not addresses:
            raise InvalidDecisionError("an audit event without the client's address")
        address = addresses[0]["ip"]
    return str(address).lstrip("/")
