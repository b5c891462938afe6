"""What kafka-python's admin client does for the driver, and how the driver reports its errors."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from kafka import KafkaAdminClient, TopicPartition, errors
from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ConfigResource,
    ConfigResourceType,
    OffsetSpec,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from kafka.structs import OffsetAndMetadata
from line_loop import items


def error_of(error: Exception) -> dict[str, Any]:
    is_own = isinstance(error, errors.KafkaError)
    return {
        "class": type(error).__name__,
        "code": getattr(error, "errno", None) if is_own else None,
        "text": str(error),
        "retriable": getattr(error, "retriable", None),
    }


def _raise(code: int, text: str | None = None) -> None:
    if code:
        raise errors.for_code(code)(text or "")


def _raise_class(error: type[Exception]) -> None:
    if error is not errors.NoError:
        raise error


def _raise_text(text: str | None) -> None:
    """Of some errors the client hands out the text alone: `[Error 29] TopicAuthorization...`."""
    if text is not None and (found := re.match(r"\[Error (-?\d+)\] (.*)", text, re.DOTALL)):
        _raise(int(found[1]), found[2])
    elif text not in (None, "OK"):
        raise errors.KafkaError(text)


def _each(rows: Iterable[dict[str, Any]], shown: Any = lambda _: {}) -> dict[str, Any]:
    """What came of each row of an answer, by its name."""
    by_name = {row["name"]: row for row in rows}

    def outcome(name: str) -> Any:
        _raise(by_name[name]["error_code"], by_name[name].get("error_message"))
        return shown(by_name[name])

    return items(by_name, outcome, error_of)


def _operations(found: dict[str, Any], asked: bool) -> dict[str, Any]:
    """The client asks for them always, and has null for those that it was not told."""
    operations = found["authorized_operations"]
    return {"operations": sorted(operations) if asked and operations is not None else None}


def partition_of(text: str) -> TopicPartition:
    topic, _, number = text.rpartition("-")
    return TopicPartition(topic, int(number))


def _resources(kind: str, names: list[str], configs: Any = None) -> list[ConfigResource]:
    return [ConfigResource(ConfigResourceType[kind.upper()], name, configs) for name in names]


def _acl(acl: dict[str, Any], kind: Callable[..., Any], pattern: Callable[..., Any]) -> Any:
    return kind(
        principal=acl["principal"],
        host=acl["host"],
        operation=ACLOperation[acl["operation"]],
        permission_type=ACLPermissionType[acl["permission"]],
        resource_pattern=pattern(
            ResourceType[acl["resource_type"]],
            acl["name"],
            ACLResourcePatternType[acl["pattern_type"]],
        ),
    )


def _shown(acl: ACL) -> dict[str, Any]:
    return {
        "resource_type": acl.resource_pattern.resource_type.name,
        "name": acl.resource_pattern.resource_name,
        "pattern_type": acl.resource_pattern.pattern_type.name,
        "principal": acl.principal,
        "host": acl.host,
        "operation": acl.operation.name,
        "permission": acl.permission_type.name,
    }


class AdminCommands:
    """The commands that a class of clients with an admin client has."""

    _admin: KafkaAdminClient

    def create_topics(self, topics: dict[str, int], configs: Any = None) -> Any:
        new = {
            name: {"num_partitions": count, "replication_factor": 1, "configs": configs or {}}
            for name, count in topics.items()
        }
        return _each(self._admin.create_topics(new, raise_errors=False)["topics"])

    def delete_topics(self, names: list[str]) -> Any:
        return _each(self._admin.delete_topics(names, raise_errors=False)["topics"])

    def create_partitions(self, topics: dict[str, int]) -> Any:
        done = self._admin.create_partitions(topics, raise_errors=False)
        return _each(done.to_dict()["results"])

    def list_topics(self) -> Any:
        return {"topics": self._admin.list_topics()}

    def describe_topics(self, names: list[str], operations: bool) -> Any:
        def shown(topic: Any) -> Any:
            return _operations(topic, operations) | {"partitions": len(topic["partitions"])}

        return _each(self._admin.describe_topics(names), shown)

    def describe_cluster(self, operations: bool) -> Any:
        found = self._admin.describe_cluster()
        brokers = [broker["broker_id"] for broker in found["brokers"]]
        return _operations(found, operations) | {"brokers": brokers}

    def describe_configs(self, type: str, names: list[str]) -> Any:
        found = self._admin.describe_configs(_resources(type, names), config_filter="all")

        def settings(name: str) -> Any:
            rows = found[type][name].items()
            return {"settings": {setting: row["value"] for setting, row in rows}}

        return items(names, settings, error_of)

    def alter_configs(self, type: str, names: list[str], setting: str, value: str) -> Any:
        done = self._admin.alter_configs(
            _resources(type, names, {setting: value}),
            raise_on_unknown=False,  # else it describes them first, which takes another right
        )
        return items(names, lambda name: _raise_text(done[type][name]), error_of)

    def list_offsets(self, partitions: list[str]) -> Any:
        asked = {partition_of(text): OffsetSpec.LATEST for text in partitions}
        found = self._admin.list_partition_offsets(asked)
        return items(
            partitions, lambda name: {"offset": found[partition_of(name)].offset}, error_of
        )

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        self._admin.delete_records({TopicPartition(topic, partition): before})

    def create_acls(self, acls: list[dict[str, Any]]) -> Any:
        wanted = [_acl(acl, ACL, ResourcePattern) for acl in acls]
        done = self._admin.create_acls(wanted)
        made = {id(acl) for acl in done["succeeded"]}
        failed = iter(done["failed"])  # errors alone, in the order of the ACLs

        def outcome(number: str) -> None:
            if id(wanted[int(number)]) not in made:
                raise next(failed)

        return items([str(number) for number in range(len(wanted))], outcome, error_of)

    def describe_acls(self, filter: dict[str, Any]) -> Any:
        acls, _ = self._admin.describe_acls(_acl(filter, ACLFilter, ResourcePatternFilter))
        return {"acls": [_shown(acl) for acl in acls]}

    def delete_acls(self, filters: list[dict[str, Any]]) -> Any:
        wanted = [_acl(row, ACLFilter, ResourcePatternFilter) for row in filters]
        done = self._admin.delete_acls(wanted)

        def outcome(number: str) -> Any:
            _, acls, error = done[int(number)]
            _raise_class(error)
            return {"acls": [_shown(acl) for acl in acls]}

        return items([str(number) for number in range(len(wanted))], outcome, error_of)

    def describe_scram_users(self, users: list[str]) -> Any:
        found = self._admin.describe_user_scram_credentials(users)

        def mechanisms(user: str) -> Any:
            _raise_text(found[user]["error"])
            rows = found[user]["credential_infos"]
            return {"mechanisms": [row["mechanism"].name.replace("_", "-") for row in rows]}

        return items(users, mechanisms, error_of)

    def alter_scram_users(self, passwords: dict[str, str | None], mechanism: str) -> Any:
        done = self._admin.alter_user_scram_credentials(
            [
                UserScramCredentialDeletion(user, mechanism)
                if password is None
                else UserScramCredentialUpsertion(user, mechanism, password)
                for user, password in passwords.items()
            ]
        )
        return items(passwords, lambda user: _raise_text(done[user]), error_of)

    def list_groups(self) -> Any:
        return {"groups": [group["group_id"] for group in self._admin.list_groups()]}

    def describe_groups(self, names: list[str], operations: bool) -> Any:
        found = self._admin.describe_groups(names)

        def shown(name: str) -> Any:
            _raise_text(found[name]["error"])
            return _operations(found[name], operations) | {"members": len(found[name]["members"])}

        return items(names, shown, error_of)

    def delete_groups(self, names: list[str]) -> Any:
        done = self._admin.delete_groups(names)

        def outcome(name: str) -> None:
            if done[name] != "OK":  # the name of the error's class
                raise getattr(errors, done[name])

        return items(names, outcome, error_of)

    def group_offsets(self, group: str, partitions: list[str]) -> Any:
        asked = {group: [partition_of(text) for text in partitions]}
        found = self._admin.list_group_offsets(asked)[group]

        def offset(name: str) -> Any:
            committed = found[partition_of(name)].offset
            return {"offset": committed if committed >= 0 else None}

        return items(partitions, offset, error_of)

    def alter_group_offsets(self, group: str, topic: str, partition: int, offset: int) -> None:
        wanted = {TopicPartition(topic, partition): OffsetAndMetadata(offset, "", -1)}
        for error in self._admin.alter_group_offsets(group, wanted).values():
            _raise_class(error)

    def delete_group_offsets(self, group: str, partitions: list[str]) -> Any:
        done = self._admin.delete_group_offsets(group, [partition_of(text) for text in partitions])
        return items(partitions, lambda name: _raise_class(done[partition_of(name)]), error_of)
