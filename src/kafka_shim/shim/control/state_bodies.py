"""Types of responses about records, groups, transactions, and permissions."""

from typing import Any

import msgspec

from kafka_shim.shim.control.bodies import AclRow


class HeaderRow(msgspec.Struct):
    """A header of a record; `value` is null if it is null or not
    UTF-8, `value_hex` only if null.
    """

    key: str
    value: str | None
    value_hex: str | None


class RecordRow(msgspec.Struct):
    """A record. `key` and `value` are null if there is none, or if its bytes are not UTF-8; the
    hexadecimal fields are null only if there is none. `control` is `commit` or `abort` for the end
    of a transaction. `value_bytes` is the size of the whole value; `value` and
    `value_hex` can have only its beginning.
    """

    partition: int
    offset: int
    timestamp_ms: int
    key: str | None
    key_hex: str | None
    value: str | None
    value_hex: str | None
    value_bytes: int | None
    headers: list[HeaderRow]
    compression: str
    producer_id: int
    is_transactional: bool
    control: str | None


class RecordRows(msgspec.Struct):
    """Records, oldest first; `next_offset` is the `from` of the next page."""

    start_offset: int
    end_offset: int
    next_offset: int
    records: list[RecordRow]


class NewRecord(msgspec.Struct, forbid_unknown_fields=True):
    """A record to produce; a value of null is a tombstone. `headers` are values by key.

    `key_hex` and `value_hex` are bytes, instead of text. A `partition` of null: the key selects it.
    """

    value: str | None = None
    key: str | None = None
    headers: dict[str, str] = {}
    partition: int | None = 0
    key_hex: str | None = None
    value_hex: str | None = None


class ProducedRecord(msgspec.Struct):
    """Where a record was stored."""

    partition: int
    offset: int


class AssignedTopic(msgspec.Struct):
    """Partitions of a topic; for members of streams groups, `topic` is a subtopology."""

    topic: str
    partitions: list[int]


class MemberRow(msgspec.Struct):
    """A member of a group; `epoch` is the generation in a classic group."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    epoch: int
    assignment: list[AssignedTopic]


class GroupOffset(msgspec.Struct):
    """A group's committed offset in a partition, or the start offset of a share group."""

    topic: str
    partition: int
    offset: int
    end_offset: int
    lag: int
    metadata: str


class GroupDetail(msgspec.Struct):
    """A group with its members and offsets; `lag` is the sum over its partitions."""

    group_id: str
    type: str
    state: str
    members: list[MemberRow]
    offsets: list[GroupOffset]
    lag: int


class GroupRows(msgspec.Struct):
    """Groups by id."""

    groups: list[GroupDetail]


class NewOffsets(msgspec.Struct, forbid_unknown_fields=True):
    """New offsets of a group, for all of its partitions, for those of `topic`, or for one
    `partition`. Give one of `to` (`earliest`, `latest` or an offset), `time_ms` (the first record
    at or after it) and `shift` (is added). With `dry_run`, they are returned but not set.
    """

    to: int | str | None = None
    topic: str | None = None
    partition: int | None = None
    time_ms: int | None = None
    shift: int | None = None
    dry_run: bool = False


class OffsetChange(msgspec.Struct):
    """The offset of a partition before and after a reset; `before` is null if there was none."""

    topic: str
    partition: int
    before: int | None
    after: int


class GroupOffsets(msgspec.Struct):
    """Offsets of a group, and those that a reset has changed, or would change."""

    offsets: list[GroupOffset]
    changes: list[OffsetChange]


class TopicPartitionRow(msgspec.Struct):
    """A partition of a topic."""

    topic: str
    partition: int


class TransactionRow(msgspec.Struct):
    """A transactional id; times are ms since 1970, -1 for none, `timeout_ms` a duration."""

    transactional_id: str
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    started_ms: int
    updated_ms: int
    partitions: list[TopicPartitionRow]


class ProducerRow(msgspec.Struct):
    """A producer id on a partition. `transaction_offset` is where its open transaction begins, or
    -1; `last_sequence` is -1 if unknown.
    """

    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp_ms: int
    transaction_offset: int


class TransactionRows(msgspec.Struct):
    """Transactional ids, and the producers of partitions."""

    transactions: list[TransactionRow]
    producers: list[ProducerRow]


class AclChange(msgspec.Struct, forbid_unknown_fields=True):
    """ACLs to remove, and then to add, as objects or as rules of a state file."""

    remove: list[dict[str, Any]] = []
    add: list[dict[str, Any]] = []


class PreviewedChange(msgspec.Struct):
    """What principals gain or lose: `access` in words, for all possible names, with the first of
    the `existing_count` resources that it concerns, and an example.
    """

    gained: bool
    principal: str
    access: str
    existing: list[str]
    existing_count: int
    example: str


class ObservedAccess(msgspec.Struct):
    """What kept requests needed; `allowed` is what the change would make of it."""

    principal: str
    host: str
    access: str
    requests: int
    allowed: bool


class ChangePreview(msgspec.Struct):
    """What a change of ACLs would do: to all accesses that clients can make, and to those that were
    observed in the kept requests, of which there are `requests`. `warnings` are about added ACLs
    without effect.
    """

    changes: list[PreviewedChange]
    observed: list[ObservedAccess]
    observed_count: int
    requests: int
    warnings: list[str]


class PrincipalDifference(msgspec.Struct):
    """What `only` one of two principals may; `because` has the reasons for the first and the
    second one.
    """

    only: str
    access: str
    existing: list[str]
    existing_count: int
    because: list[str]


class PrincipalDifferences(msgspec.Struct):
    """In what the rights of two principals differ, over all possible names and hosts."""

    first: str
    second: str
    differences: list[PrincipalDifference]


class AllowedPrincipalRow(msgspec.Struct):
    """A principal that is allowed, its hosts (`*`: all except `except_hosts`), and the ACLs that
    allow it. `denials` are the ACLs behind the exceptions. `everyone` is true for the row of all
    principals that are not listed.
    """

    principal: str
    everyone: bool
    hosts: list[str]
    except_hosts: list[str]
    because: str
    acls: list[AclRow]
    denials: list[AclRow]


class DeniedPrincipalRow(msgspec.Struct):
    """A principal that is denied although an ACL allows it, with the ACLs that deny it."""

    principal: str
    acls: list[AclRow]


class WhoCanRows(msgspec.Struct):
    """The principals that are allowed to do something."""

    operation: str
    resource_type: str
    resource_name: str
    allowed: list[AllowedPrincipalRow]
    denied: list[DeniedPrincipalRow]


class LeastAclRow(msgspec.Struct):
    """An ACL that requests need: their APIs, how many requests, and whether it exists already;
    null if that is unknown.
    """

    acl: AclRow
    apis: list[str]
    requests: int
    exists: bool | None


class LeastAcls(msgspec.Struct):
    """The fewest ACLs for requests, also as text. `remove` are the DENY ACLs against them.

    `decisions_left_out` counts decisions that are not kept, and so not considered.
    """

    requests: int
    decisions_left_out: int
    acls: list[LeastAclRow]
    remove: list[AclRow]
    format: str
    text: str


class AclText(msgspec.Struct, forbid_unknown_fields=True):
    """ACLs as text; without `format` (docs/guides/acl-formats.md), the text decides."""

    text: str
    format: str | None = None


class ExportedAcls(msgspec.Struct):
    """All ACLs as text in a format of docs/guides/acl-formats.md, which POST /acls/import reads."""

    format: str
    text: str


class RequestDetail(msgspec.Struct):
    """A request and its response, decoded in Kafka's field names, and their frames in hexadecimal,
    without the size field. `response` is null if there is none, or if it is longer than 16 KiB;
    then only `response_bytes` is set.
    """

    number: int
    request: dict[str, Any] | None
    request_hex: str
    response: dict[str, Any] | None
    response_hex: str | None
    response_bytes: int | None


class ControlCall(msgspec.Struct):
    """A call of the control API."""

    method: str
    path: str
    body: Any


class Originator(msgspec.Struct):
    """Who changed something: `inspector`, `control API`, `client` (with its request's number in
    `/requests`) or `broker`.
    """

    kind: str
    principal: str | None
    client_id: str | None
    request: int | None


class ChangedItem(msgspec.Struct):
    """What was changed; `before` and `after` are null where there is nothing to compare."""

    name: str
    before: Any
    after: Any


class ChangeRow(msgspec.Struct):
    """Changes of one kind and with one action that one request or call made. `kind` is acl, topic,
    partitions, settings, user, fault, leader, broker or cluster. `action` is added, removed or
    changed. `undo` has the calls that undo the changes; it is empty if they cannot be undone.
    `items_left_out` is the number of changed items that `items` lacks, because there were too many.
    """

    number: int
    time_ms: int
    kind: str
    action: str
    by: Originator
    items: list[ChangedItem]
    items_left_out: int
    undo: list[ControlCall]


class ChangeRows(msgspec.Struct):
    """Changes, oldest first, and the number of the last. `observes_acls` is false with a
    custom authorizer, whose ACLs can change unseen.
    """

    changes: list[ChangeRow]
    last: int
    observes_acls: bool


class UsedAcl(msgspec.Struct):
    """An ACL, the number of kept decisions that it made, and the time of the last one, in µs since
    1970.
    """

    acl: AclRow
    decisions: int
    last_used_us: int


class AclUse(msgspec.Struct):
    """The ACLs that made decisions about the kept requests. `since_us` is the time of the oldest
    kept request, in µs since 1970, and `last` is the number of the newest request.
    """

    acls: list[UsedAcl]
    since_us: int | None
    last: int


class OperationAccess(msgspec.Struct):
    """A decision, the ACL that made it, and the narrowest ACL that allows the operation."""

    operation: str
    allowed: bool
    because: str
    acl: AclRow | None
    narrowest_acl: AclRow


class AccessOfPrincipal(msgspec.Struct):
    """The decisions about all operations of a principal on a resource."""

    principal: str
    host: str
    resource_type: str
    resource_name: str
    operations: list[OperationAccess]
