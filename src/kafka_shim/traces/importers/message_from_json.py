"""Make messages of JSON in the format of Kafka's request log: the inverse of `wire_json`.

The log has only the size of records, so they are left empty. Fields that Kafka renamed have other
names in logs of earlier releases, and the same bytes. They were found by comparing the message
definitions of 2.7 to 4.4.
"""

import base64
import binascii
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from kafka_shim.protocol.codec.catalogue import message_classes_by_name
from kafka_shim.protocol.codec.message_spec import FieldSpec, StructSpec, load_message_spec
from kafka_shim.protocol.wire_json import SIZE, lower_first_letter

_BY_MESSAGE = {
    "AddPartitionsToTxnRequest": {
        "v3AndBelowTransactionalId": "transactionalId",
        "v3AndBelowProducerId": "producerId",
        "v3AndBelowProducerEpoch": "producerEpoch",
        "v3AndBelowTopics": "topics",
    },
    "AddPartitionsToTxnResponse": {
        "resultsByTopicV3AndBelow": "results",
        "resultsByTopicV3AndBelow.resultsByPartition": "results",
        "resultsByTopicV3AndBelow.resultsByPartition.partitionErrorCode": "errorCode",
    },
    "AlterPartitionRequest": {
        "topics.topicName": "name",
    },
    "AlterPartitionResponse": {
        "topics.topicName": "name",
    },
    "DescribeLogDirsRequest": {
        "topics.partitions": "partitionIndex",
    },
    "ElectLeadersRequest": {
        "topicPartitions.partitions": "partitionId",
    },
    "FetchResponse": {
        "responses.partitions": "partitionResponses",
        "responses.partitions.partitionIndex": "partition",
        "responses.partitions.records": "recordSet",
    },
    "LeaderAndIsrRequest": {
        "topicStates.partitionStates.partitionEpoch": "zkVersion",
        "ungroupedPartitionStates.partitionEpoch": "zkVersion",
    },
    "OffsetCommitRequest": {
        "generationIdOrMemberEpoch": "generationId",
    },
    "OffsetForLeaderEpochRequest": {
        "topics.topic": "name",
        "topics.partitions.partition": "partitionIndex",
    },
    "OffsetForLeaderEpochResponse": {
        "topics.topic": "name",
        "topics.partitions.partition": "partitionIndex",
    },
    "ProduceRequest": {
        "topicData": "topics",
        "topicData.partitionData": "partitions",
        "topicData.partitionData.index": "partitionIndex",
    },
    "ProduceResponse": {
        "responses.partitionResponses": "partitions",
        "responses.partitionResponses.index": "partitionIndex",
    },
    "StreamsGroupHeartbeatResponse": {
        "acceptableRecoveryLagLegacy": "acceptableRecoveryLag",
    },
    "TxnOffsetCommitRequest": {
        "generationIdOrMemberEpoch": "generationId",
    },
    "VoteRequest": {
        "topics.partitions.replicaDirectoryId": "candidateDirectoryId",
        "topics.partitions.replicaEpoch": "candidateEpoch",
        "topics.partitions.replicaId": "candidateId",
    },
}
EARLIER: Mapping[str, str] = MappingProxyType(
    {
        f"{message}.{path}": name
        for message, names in _BY_MESSAGE.items()
        for path, name in names.items()
    }
)
"""By message and path, both as they are now."""


class JsonMessageError(ValueError):
    """The JSON does not describe the message; the text says where."""


def message_from_json(name: str, version: int, content: Any, unknown: set[str]) -> Any:
    """Return a message by its full name, such as `CreateAclsRequest`.

    Unknown keys are ignored, and their places are added to `unknown`. Raise JsonMessageError if
    the content is invalid, or if a field seems to have the name of another release.
    """
    try:
        reader = _JsonMessageReader(message_classes_by_name(name), version, unknown)
        return reader.read_struct_without_records(
            load_message_spec(name).top_level_struct, content, name
        )
    except (TypeError, AttributeError, KeyError) as error:
        raise JsonMessageError(f"{name}: {error}") from error


class _JsonMessageReader:
    """One message: the classes of its structs, its version, and its unknown fields."""

    def __init__(self, types: Mapping[str, Any], version: int, unknown: set[str]) -> None:
        self._types = types
        self._version = version
        self._unknown = unknown

    def read_struct_without_records(self, spec: StructSpec, content: Any, path: str) -> Any:
        if not isinstance(content, dict):
            raise JsonMessageError(f"{path}: `{str(content)[:40]}` is not an object")
        values, missing_fields = {}, list[str]()
        remaining_fields = dict(content)
        for field in spec.fields:
            name = lower_first_letter(field.name)
            field_path = f"{path}.{name}"
            earlier_name = EARLIER.get(field_path, name)
            if field.element_kind == "records":
                for key in (name, f"{name}{SIZE}", f"{earlier_name}{SIZE}"):
                    remaining_fields.pop(key, None)
                if (
                    field.nullable_versions.high < field.versions.high
                ):  # ShareFetch: null in version 0 only
                    values[field.attribute] = b""
            elif name in remaining_fields or earlier_name in remaining_fields:
                field_content = remaining_fields.pop(
                    name if name in remaining_fields else earlier_name
                )
                values[field.attribute] = self._field_value(field, field_content, field_path)
            elif field.versions.has(self._version) and field.tag < 0:
                missing_fields.append(name)
        if missing_fields and remaining_fields:
            raise JsonMessageError(
                f"{path}: unknown field `{next(iter(remaining_fields))}`, and"
                f" `{missing_fields[0]}` is missing; other releases may have other names"
            )
        self._unknown.update(f"{path}.{key}" for key in remaining_fields)
        return self._types[spec.name](**values)

    def _field_value(self, field: FieldSpec, content: Any, path: str) -> Any:
        if content is None:
            return None
        if field.is_array:
            if not isinstance(content, list):
                raise JsonMessageError(f"{path}: `{str(content)[:40]}` is not a list")
            return [self._element_value(field, row, path) for row in content]
        return self._element_value(field, content, path)

    def _element_value(self, field: FieldSpec, content: Any, path: str) -> Any:
        if field.struct is not None:
            return (
                None
                if content is None
                else self.read_struct_without_records(field.struct, content, path)
            )
        try:
            if field.element_kind == "uuid":
                return base64.urlsafe_b64decode(f"{content}==")
            if field.element_kind == "bytes":
                return base64.b64decode(content)
        except (binascii.Error, TypeError, ValueError) as error:
            raise JsonMessageError(f"{path}: `{str(content)[:40]}` is not base64") from error
        return content
