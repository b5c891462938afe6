"""Comparisons of what commands ask a client to do with the requests that it sends for them.

A client can report the right result of the wrong request: an offset that is one too large, a
number of partitions, a filter for other hosts. So each command has rows that its requests must
have, and those that change something must have no others.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kafka_shim.conformance.reported_results import CommandRun, partition_records
from kafka_shim.protocol.enums import (
    ApiKey,
    ConfigResourceType,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)

Row = tuple[Any, ...]


_FIELDS_OF_ITEMS = ("names", "topics", "partitions", "users", "passwords")
"""Fields of commands with the names of the items in their answers."""
_NUMBERED_FIELDS = ("acls", "filters")
"""Fields of commands whose items are named 0, 1 and so on."""


class SentRequest(NamedTuple):
    """A request of the client."""

    api: ApiKey
    version: int
    message: Any


class ExpectedRequests(NamedTuple):
    """What a command must be sent as; `is_exact`: and nothing else, since it changes something."""

    apis: Mapping[ApiKey, Callable[[SentRequest], Iterable[Row]]]
    asked: Callable[[Mapping[str, Any]], Iterable[Row]]
    is_exact: bool = True


def find_wrong_request(
    run: CommandRun, earlier: Iterable[CommandRun], requests: Sequence[SentRequest]
) -> tuple[str, str] | None:
    """Return what a command that succeeded should have sent, and what the client sent instead.

    `earlier` are runs of the same command, whose requests the client may repeat.
    """
    content = REQUESTED_CONTENTS.get(run.command)
    if content is None or run.response.ok is None:
        return None
    sent = [
        row
        for each in requests
        if each.api in content.apis and each.message is not None
        for row in content.apis[each.api](each)
    ]
    if not sent:  # missing_request_text judges this
        return None
    asked = [*content.asked(_fields_without_failures(run))]
    for row in asked:
        if row not in sent and _row_with_topic_id(row) not in sent:
            return f"a request with {_row_text(row)}", f"the client sent {_rows_text(sent)}"
    known = {row for each in (run, *earlier) for row in content.asked(each.fields)}
    known |= {_row_with_topic_id(row) for row in known}
    for row in sent:
        if content.is_exact and row not in known:
            rows = [*content.asked(run.fields)]
            return f"a request with {_rows_text(rows)}", f"the client sent {_row_text(row)}"
    return None


def _row_with_topic_id(row: Row) -> Row:
    """Return the row as newer requests have it, with an id in place of the topic's name."""
    return tuple(part.name_of_id if isinstance(part, _TopicName) else part for part in row)


class _TopicName(str):
    """The name of a topic that a request can also identify by its id."""

    __slots__ = ()
    name_of_id = ""


def _row_text(row: Row) -> str:
    return ", ".join(str(part) for part in row)


def _rows_text(rows: Sequence[Row]) -> str:
    return " and ".join(f"({_row_text(row)})" for row in dict.fromkeys(rows))[:300]


def _fields_without_failures(run: CommandRun) -> Mapping[str, Any]:
    """Return the fields of a command without the names of items that failed: they may have failed
    before the client could send the request.
    """
    items = (run.response.ok or {}).get("items")
    if items is None:
        return run.fields
    is_ok = {name: run.response.item_response(name).ok is not None for name in items}
    fields = dict(run.fields)
    for name in _FIELDS_OF_ITEMS:
        value = fields.get(name)
        if isinstance(value, Mapping):
            fields[name] = {key: each for key, each in value.items() if is_ok.get(key)}
        elif value is not None:
            fields[name] = [each for each in value if is_ok.get(each)]
    for name in _NUMBERED_FIELDS:
        if name in fields:
            fields[name] = [each for at, each in enumerate(fields[name]) if is_ok.get(str(at))]
    return fields


def item_names(fields: Mapping[str, Any]) -> set[str]:
    """Return the names that the answer of a command must have; none if it has no items."""
    for field in _NUMBERED_FIELDS:
        if field in fields:
            return set(map(str, range(len(fields[field]))))
    return {*next((fields[name] for name in _FIELDS_OF_ITEMS if name in fields), ())}


# what the commands ask for


def _name_rows(fields: Mapping[str, Any]) -> Iterator[Row]:
    for name in fields["names"]:
        yield (name,)


def _user_rows(fields: Mapping[str, Any]) -> Iterator[Row]:
    for name in fields["users"]:
        yield (name,)


def _expected_partition_counts(fields: Mapping[str, Any]) -> Iterator[Row]:
    yield from fields["topics"].items()


def _new_topics(fields: Mapping[str, Any]) -> Iterator[Row]:
    for name, count in fields["topics"].items():
        yield name, count, 1, *sorted((fields.get("configs") or {}).items())


def _parse_partition(text: str) -> tuple[_TopicName, int]:
    topic, _, number = text.rpartition("-")
    return _TopicName(topic), int(number)


def _partitions(fields: Mapping[str, Any]) -> Iterator[Row]:
    for text in fields["partitions"]:
        yield _parse_partition(text)


def _partitions_of_group(fields: Mapping[str, Any]) -> Iterator[Row]:
    for text in fields["partitions"]:
        yield fields["group"], *_parse_partition(text)


def _latest_offsets(fields: Mapping[str, Any]) -> Iterator[Row]:
    for text in fields["partitions"]:
        yield *_parse_partition(text), -1


def _offset_of_group(fields: Mapping[str, Any]) -> Iterator[Row]:
    yield fields["group"], _TopicName(fields["topic"]), fields["partition"], fields["offset"]


def _changed_settings(fields: Mapping[str, Any]) -> Iterator[Row]:
    for name in fields["names"]:
        yield fields["type"], name, fields["setting"], fields["value"]


def _described_resources(fields: Mapping[str, Any]) -> Iterator[Row]:
    for name in fields["names"]:
        yield fields["type"], name


def _acl_row(acl: Mapping[str, Any]) -> Row:
    return (
        ResourceType[acl["resource_type"]],
        acl["name"],
        PatternType[acl["pattern_type"]],
        acl["principal"],
        acl["host"],
        Operation[acl["operation"]],
        Permission[acl["permission"]],
    )


def _renewers(fields: Mapping[str, Any]) -> Iterator[Row]:
    for principal in fields["renewers"]:
        yield "renewer", principal
    if fields.get("owner"):
        yield "owner", fields["owner"]


def _token_period(fields: Mapping[str, Any]) -> Iterator[Row]:
    yield (fields["milliseconds"],)  # the HMAC is a secret, which histories do not keep


def _passwords(fields: Mapping[str, Any]) -> Iterator[Row]:
    for user, password in fields["passwords"].items():
        yield user, fields["mechanism"], "deletion" if password is None else "password"


def _values_for_topics(fields: Mapping[str, Any]) -> Iterator[Row]:
    for topic in fields["topics"]:
        yield _TopicName(topic), fields["value"].encode()


# what requests have


def _created_topics(sent: SentRequest) -> Iterator[Row]:
    for topic in sent.message.topics:
        count, factor = topic.num_partitions, topic.replication_factor
        if topic.assignments:
            count = len(topic.assignments)
            factor = len(topic.assignments[0].broker_ids)
        yield topic.name, count, factor, *sorted((each.name, each.value) for each in topic.configs)


def _deleted_topics(sent: SentRequest) -> Iterator[Row]:
    for name in (*(topic.name for topic in sent.message.topics), *sent.message.topic_names):
        yield (name,)


def _requested_partition_counts(sent: SentRequest) -> Iterator[Row]:
    for topic in sent.message.topics:
        yield topic.name, topic.count


def _settings_in_request(sent: SentRequest) -> Iterator[Row]:
    for resource in sent.message.resources:
        kind = ConfigResourceType(resource.resource_type).name.lower()
        for config in resource.configs:
            yield kind, resource.resource_name, config.name, config.value


def _resources_in_request(sent: SentRequest) -> Iterator[Row]:
    for resource in sent.message.resources:
        yield ConfigResourceType(resource.resource_type).name.lower(), resource.resource_name


def _offsets_to_delete_before(sent: SentRequest) -> Iterator[Row]:
    for topic in sent.message.topics:
        for row in topic.partitions:
            yield topic.name, row.partition_index, row.offset


def _requested_timestamps(sent: SentRequest) -> Iterator[Row]:
    for topic in sent.message.topics:
        for row in topic.partitions:
            yield topic.name, row.partition_index, row.timestamp


def _created_acl_row(row: Any) -> Row:
    pattern, name = row.resource_pattern_type, row.resource_name
    return (row.resource_type, name, pattern, *_acl_entry_row(row, row.principal, row.host))


def acl_of_filter(row: Any) -> Row:
    """Return the fields of a filter in a request, in the order of the contract."""
    resource = row.resource_type_filter, row.resource_name_filter, row.pattern_type_filter
    return (*resource, *_acl_entry_row(row, row.principal_filter, row.host_filter))


def _acl_entry_row(row: Any, principal: str | None, host: str | None) -> Row:
    return principal, host, row.operation, row.permission_type


def committed_rows(sent: SentRequest) -> Iterator[Row]:
    """Yield group, topic, partition and offset of each commit in a request."""
    if sent.api not in (ApiKey.OFFSET_COMMIT, ApiKey.TXN_OFFSET_COMMIT) or sent.message is None:
        return
    for topic in sent.message.topics:
        for row in topic.partitions:
            group = sent.message.group_id
            yield group, topic.name, row.partition_index, row.committed_offset


def _deleted_offsets(sent: SentRequest) -> Iterator[Row]:
    for topic in sent.message.topics:
        for row in topic.partitions:
            yield sent.message.group_id, topic.name, row.partition_index


def _requested_offsets(sent: SentRequest) -> Iterator[Row]:
    """Yield group, topic and partition; nothing if all partitions of a group are requested."""
    for group in sent.message.groups or (sent.message,):
        for topic in group.topics or ():
            for index in topic.partition_indexes:
                yield group.group_id, topic.name, index


def _requested_partitions(sent: SentRequest) -> Iterator[Row]:
    for _, topic, index in _requested_offsets(sent):
        yield topic, index


def _renewers_in_request(sent: SentRequest) -> Iterator[Row]:
    message = sent.message
    for each in message.renewers:
        yield "renewer", f"{each.principal_type}:{each.principal_name}"
    if message.owner_principal_name:
        yield "owner", f"{message.owner_principal_type}:{message.owner_principal_name}"


def _scram_changes(sent: SentRequest) -> Iterator[Row]:
    names = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
    for row in sent.message.deletions:
        yield row.name, names.get(row.mechanism), "deletion"
    for row in sent.message.upsertions:
        yield row.name, names.get(row.mechanism), "password"


def _values_by_topic(sent: SentRequest) -> Iterator[tuple[str, bytes | None]]:
    for topic in sent.message.topic_data:
        for row in topic.partition_data:
            for value in [value for _, value in partition_records(row)]:
                yield topic.name, value


_OF_TOPICS: Mapping[ApiKey, Callable[[SentRequest], Iterable[Row]]] = {
    ApiKey.METADATA: lambda sent: ((topic.name,) for topic in sent.message.topics or ()),
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: lambda sent: ((row.name,) for row in sent.message.topics),
}
REQUESTED_CONTENTS: Mapping[str, ExpectedRequests] = {
    "create_topics": ExpectedRequests({ApiKey.CREATE_TOPICS: _created_topics}, _new_topics),
    "delete_topics": ExpectedRequests({ApiKey.DELETE_TOPICS: _deleted_topics}, _name_rows),
    "create_partitions": ExpectedRequests(
        {ApiKey.CREATE_PARTITIONS: _requested_partition_counts}, _expected_partition_counts
    ),
    "describe_topics": ExpectedRequests(_OF_TOPICS, _name_rows, is_exact=False),
    "describe_configs": ExpectedRequests(
        {ApiKey.DESCRIBE_CONFIGS: _resources_in_request}, _described_resources, is_exact=False
    ),
    "alter_configs": ExpectedRequests(
        {
            ApiKey.INCREMENTAL_ALTER_CONFIGS: _settings_in_request,
            ApiKey.ALTER_CONFIGS: _settings_in_request,
        },
        _changed_settings,
        is_exact=False,  # AlterConfigs has to repeat the other settings
    ),
    "list_offsets": ExpectedRequests(
        {ApiKey.LIST_OFFSETS: _requested_timestamps}, _latest_offsets, is_exact=False
    ),
    "delete_records": ExpectedRequests(
        {ApiKey.DELETE_RECORDS: _offsets_to_delete_before},
        lambda fields: [(fields["topic"], fields["partition"], fields["before"])],
    ),
    "create_acls": ExpectedRequests(
        {ApiKey.CREATE_ACLS: lambda sent: map(_created_acl_row, sent.message.creations)},
        lambda fields: map(_acl_row, fields["acls"]),
    ),
    "describe_acls": ExpectedRequests(
        {ApiKey.DESCRIBE_ACLS: lambda sent: [acl_of_filter(sent.message)]},
        lambda fields: [_acl_row(fields["filter"])],
    ),
    "delete_acls": ExpectedRequests(
        {ApiKey.DELETE_ACLS: lambda sent: map(acl_of_filter, sent.message.filters)},
        lambda fields: map(_acl_row, fields["filters"]),
    ),
    "create_token": ExpectedRequests(
        {ApiKey.CREATE_DELEGATION_TOKEN: _renewers_in_request}, _renewers
    ),
    "renew_token": ExpectedRequests(
        {ApiKey.RENEW_DELEGATION_TOKEN: lambda sent: [(sent.message.renew_period_ms,)]},
        _token_period,
    ),
    "expire_token": ExpectedRequests(
        {ApiKey.EXPIRE_DELEGATION_TOKEN: lambda sent: [(sent.message.expiry_time_period_ms,)]},
        _token_period,
    ),
    "describe_scram_users": ExpectedRequests(
        {
            ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: lambda sent: (
                (user.name,) for user in sent.message.users or ()
            )
        },
        _user_rows,
    ),
    "alter_scram_users": ExpectedRequests(
        {ApiKey.ALTER_USER_SCRAM_CREDENTIALS: _scram_changes}, _passwords
    ),
    "describe_groups": ExpectedRequests(
        {
            ApiKey.DESCRIBE_GROUPS: lambda sent: ((name,) for name in sent.message.groups),
            ApiKey.CONSUMER_GROUP_DESCRIBE: lambda sent: (
                (name,) for name in sent.message.group_ids
            ),
        },
        _name_rows,
        is_exact=False,
    ),
    "delete_groups": ExpectedRequests(
        {ApiKey.DELETE_GROUPS: lambda sent: ((name,) for name in sent.message.groups_names)},
        _name_rows,
    ),
    "group_offsets": ExpectedRequests(
        {ApiKey.OFFSET_FETCH: _requested_offsets}, _partitions_of_group, is_exact=False
    ),
    "committed": ExpectedRequests(
        {ApiKey.OFFSET_FETCH: _requested_partitions}, _partitions, is_exact=False
    ),
    "alter_group_offsets": ExpectedRequests(
        {ApiKey.OFFSET_COMMIT: committed_rows}, _offset_of_group
    ),
    "delete_group_offsets": ExpectedRequests(
        {ApiKey.OFFSET_DELETE: _deleted_offsets}, _partitions_of_group
    ),
    "send_offsets": ExpectedRequests({ApiKey.TXN_OFFSET_COMMIT: committed_rows}, _offset_of_group),
    "produce": ExpectedRequests(
        {ApiKey.PRODUCE: _values_by_topic},
        lambda fields: ((_TopicName(fields["topic"]), each.encode()) for each in fields["values"]),
    ),
    "produce_to_several": ExpectedRequests({ApiKey.PRODUCE: _values_by_topic}, _values_for_topics),
}
"""By command."""
