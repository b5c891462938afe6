"""The driver of kafka-python: `python kafka_python_driver.py`."""

import re
from functools import cached_property
from typing import Any

import kafka
import line_loop
from kafka import ConsumerRebalanceListener, TopicPartition, admin, errors
from kafka.net.sasl.oauth import AbstractTokenProvider
from kafka.structs import OffsetAndMetadata
from line_loop import Inbox, UnsupportedError, items, offset_or_null, place_of, python_settings

SECONDS = 8
CAPABILITIES = (
    *("plain", "scram", "oauthbearer", "tls", "reauthentication", "idempotence", "transactions"),
    *("classic-groups", "static-members", "authorized-operations", "prefixed-acls"),
)
TLS = {"ca": "ssl_cafile", "certificate": "ssl_certfile", "key": "ssl_keyfile"}
ACL_KINDS = {
    "resource_type": admin.ResourceType,
    "pattern_type": admin.ACLResourcePatternType,
    "operation": admin.ACLOperation,
    "permission": admin.ACLPermissionType,
}


def error_of(error: Exception) -> dict[str, Any]:
    is_own = isinstance(error, errors.KafkaError)
    return {
        "class": type(error).__name__,
        "code": getattr(error, "errno", None) if is_own else None,
        "text": str(error),
        "retriable": getattr(error, "retriable", None),
    }


def _error(code: int, *text: str | None) -> Exception | None:
    return errors.for_code(code)(*filter(None, text)) if code else None


def _error_in(text: str | None) -> Exception | None:
    """Return an error that the client reports as text only: `[Error 29] TopicAuthorization...`."""
    if text in (None, "OK"):
        return None
    found = re.match(r"\[Error (-?\d+)\] (.*)", text, re.DOTALL)
    return _error(int(found[1]), found[2]) if found else errors.KafkaError(text)


def _each(rows: list[dict[str, Any]], shown: Any = lambda _: {}) -> dict[str, Any]:
    """Return items from the rows of a response."""
    failed = {row["name"]: _error(row["error_code"], row.get("error_message")) for row in rows}
    found = {row["name"]: row for row in rows}
    return items(found, lambda name: failed[name] or shown(found[name]))


def _described(found: dict[str, Any], asked: bool, part: str) -> dict[str, Any]:
    """Return the result of a description; the client always requests authorized operations."""
    operations = found.get("authorized_operations")  # brokers before 2.3 return none
    shown = sorted(operations) if asked and operations is not None else None
    return {"operations": shown, part: len(found[part])}


def _partitions(names: list[str]) -> dict[str, TopicPartition]:
    return {name: TopicPartition(*place_of(name)) for name in names}


def _resources(kind: str, names: list[str], configs: Any = None) -> list[admin.ConfigResource]:
    named = admin.ConfigResourceType[kind.upper()]
    return [admin.ConfigResource(named, name, configs) for name in names]


def _acl(acl: Any, kind: Any = admin.ACLFilter, pattern: Any = admin.ResourcePatternFilter) -> Any:
    resource, name, pattern_type, *entry = line_loop.acl_values(acl, ACL_KINDS)
    return kind(*entry, pattern(resource, name, pattern_type))


def _shown(acl: admin.ACL) -> dict[str, Any]:
    at = acl.resource_pattern
    entry = (acl.principal, acl.host, acl.operation, acl.permission_type)
    return line_loop.acl_of((at.resource_type, at.resource_name, at.pattern_type, *entry))


class Token(AbstractTokenProvider):
    """Provides the token of the latest credentials."""

    def __init__(self, login: Any) -> None:
        self.login = login

    def token(self) -> str:
        return self.login["token"]


class Listener(Inbox, ConsumerRebalanceListener):
    """An inbox with the type that the client requires of listeners."""


class Client(line_loop.PolledClient):
    """A client of the contract: an admin, a producer and a consumer, each created on first use."""

    def __init__(self, servers: str, settings: dict[str, str], login: Any = None, tls: Any = None):
        super().__init__(Listener())
        self._settings = python_settings(servers, settings, login, tls)
        self._settings["bootstrap_timeout_ms"] = SECONDS * 1000
        self._settings |= {TLS[name]: path for name, path in (tls or {}).items()}
        self._token = Token(login)
        self._settings["sasl_oauth_token_provider"] = self._token
        self._has_begun = False

    def set_login(self, login: dict[str, Any]) -> None:
        if login["mechanism"] != "OAUTHBEARER":
            raise UnsupportedError  # this client cannot change its password
        self._token.login = login

    def _make(self, kind: Any) -> Any:
        known = kind.DEFAULT_CONFIG
        return kind(**{name: self._settings[name] for name in self._settings if name in known})

    @cached_property
    def _admin(self) -> kafka.KafkaAdminClient:
        return self._make(kafka.KafkaAdminClient)

    @cached_property
    def _producer(self) -> kafka.KafkaProducer:
        return self._make(kafka.KafkaProducer)

    @cached_property
    def _consumer(self) -> kafka.KafkaConsumer:
        return self._make(kafka.KafkaConsumer)

    def close(self) -> None:
        made = vars(self)
        if "_producer" in made:
            self._producer.close(timeout=1)
        if "_consumer" in made:
            self._consumer.close(autocommit=False, timeout_ms=1000)
        if "_admin" in made:
            self._admin.close()

    def create_topics(self, topics: dict[str, int], configs: Any = None) -> Any:
        common = {"replication_factor": 1, "configs": configs or {}}
        new = {name: {"num_partitions": count, **common} for name, count in topics.items()}
        return _each(self._admin.create_topics(new, raise_errors=False)["topics"])

    def delete_topics(self, names: list[str]) -> Any:
        return _each(self._admin.delete_topics(names, raise_errors=False)["topics"])

    def create_partitions(self, topics: dict[str, int]) -> Any:
        done = self._admin.create_partitions(topics, raise_errors=False).to_dict()
        return _each(done["results"])

    def list_topics(self) -> Any:
        return {"topics": self._admin.list_topics()}

    def describe_topics(self, names: list[str], operations: bool) -> Any:
        found = self._admin.describe_topics(names)
        return _each(found, lambda topic: _described(topic, operations, "partitions"))

    def describe_cluster(self, operations: bool) -> Any:
        found = self._admin.describe_cluster()
        brokers = [broker["broker_id"] for broker in found["brokers"]]
        return _described(found, operations, "brokers") | {"brokers": brokers}

    def describe_configs(self, type: str, names: list[str]) -> Any:
        resources = _resources(type, names)
        found = self._admin.describe_configs(resources, config_filter="all")[type]
        values = {name: {key: row["value"] for key, row in found[name].items()} for name in found}
        return items(names, lambda name: {"settings": values[name]})

    def alter_configs(self, type: str, names: list[str], setting: str, value: str) -> Any:
        resources = _resources(type, names, {setting: value})
        done = self._admin.alter_configs(resources, raise_on_unknown=False)  # else it describes
        return items(names, lambda name: _error_in(done[type][name]))

    def list_offsets(self, partitions: list[str]) -> Any:
        asked = _partitions(partitions)
        latest = dict.fromkeys(asked.values(), admin.OffsetSpec.LATEST)
        found = self._admin.list_partition_offsets(latest)
        return items(asked, lambda name: {"offset": found[asked[name]].offset})

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        self._admin.delete_records({TopicPartition(topic, partition): before})

    def create_acls(self, acls: list[dict[str, Any]]) -> Any:
        wanted = [_acl(acl, admin.ACL, admin.ResourcePattern) for acl in acls]
        done = self._admin.create_acls(wanted)
        made = {id(acl) for acl in done["succeeded"]}
        failed = iter(done["failed"])  # only the errors, in the order of the ACLs
        outcomes = [{} if id(acl) in made else next(failed)() for acl in wanted]
        return {"items": dict(enumerate(outcomes))}

    def describe_acls(self, filter: dict[str, Any]) -> Any:
        return {"acls": [_shown(acl) for acl in self._admin.describe_acls(_acl(filter))[0]]}

    def delete_acls(self, filters: list[dict[str, Any]]) -> Any:
        done = self._admin.delete_acls([_acl(row) for row in filters])

        def outcome(number: int) -> Any:
            acl_filter, acls, error = done[number]
            shown = {"filter": _shown(acl_filter), "acls": [_shown(acl) for acl in acls]}
            return _error(error.errno) or shown

        return items(range(len(filters)), outcome)

    def describe_scram_users(self, users: list[str]) -> Any:
        found = self._admin.describe_user_scram_credentials(users)

        def mechanisms(user: str) -> Any:
            names = [row["mechanism"].name for row in found[user]["credential_infos"]]
            shown = {"mechanisms": [name.replace("_", "-") for name in names]}
            return _error_in(found[user]["error"]) or shown

        return items(users, mechanisms)

    def alter_scram_users(self, passwords: dict[str, str | None], mechanism: str) -> Any:
        wanted = [
            admin.UserScramCredentialDeletion(user, mechanism)
            if password is None
            else admin.UserScramCredentialUpsertion(user, mechanism, password)
            for user, password in passwords.items()
        ]
        done = self._admin.alter_user_scram_credentials(wanted)
        return items(passwords, lambda user: _error_in(done[user]))

    def list_groups(self) -> Any:
        return {"groups": [group["group_id"] for group in self._admin.list_groups()]}

    def describe_groups(self, names: list[str], operations: bool) -> Any:
        found = self._admin.describe_groups(names)
        shown = {name: _described(found[name], operations, "members") for name in found}
        return items(names, lambda name: _error_in(found[name]["error"]) or shown[name])

    def delete_groups(self, names: list[str]) -> Any:
        done = self._admin.delete_groups(names)
        failed = {name for name in names if done[name] != "OK"}  # otherwise an error's name
        return items(names, lambda name: getattr(errors, done[name])() if name in failed else None)

    def group_offsets(self, group: str, partitions: list[str]) -> Any:
        asked = _partitions(partitions)
        found = self._admin.list_group_offsets({group: list(asked.values())})[group]
        return items(asked, lambda name: offset_or_null(found[asked[name]].offset))

    def alter_group_offsets(self, group: str, topic: str, partition: int, offset: int) -> None:
        offsets = {TopicPartition(topic, partition): OffsetAndMetadata(offset, "", -1)}
        for error in self._admin.alter_group_offsets(group, offsets).values():
            if error is not errors.NoError:
                raise error

    def delete_group_offsets(self, group: str, partitions: list[str]) -> Any:
        asked = _partitions(partitions)
        done = self._admin.delete_group_offsets(group, list(asked.values()))
        return items(asked, lambda name: _error(done[asked[name]].errno))

    def produce(self, topic: str, values: list[str], partition: int | None = None) -> Any:
        send = self._producer.send
        futures = [send(topic, value.encode(), partition=partition) for value in values]
        return {"offsets": [future.get(SECONDS).offset for future in futures]}

    def produce_to_several(self, topics: list[str], value: str) -> Any:
        futures = {topic: self._producer.send(topic, value.encode()) for topic in topics}
        return items(topics, lambda topic: {"offset": futures[topic].get(SECONDS).offset})

    def begin(self) -> None:
        if not self._has_begun:
            self._producer.init_transactions()
            self._has_begun = True
        self._producer.begin_transaction()

    def send_offsets(self, group: str, topic: str, partition: int, offset: int) -> None:
        offsets = {TopicPartition(topic, partition): OffsetAndMetadata(offset, "", -1)}
        self._producer.send_offsets_to_transaction(offsets, group)

    def commit(self) -> None:
        self._producer.commit_transaction()

    def abort(self) -> None:
        self._producer.abort_transaction()

    def _subscribe(self, topics: list[str]) -> None:
        self._consumer.subscribe(topics, listener=self._inbox)

    def _assign(self, partitions: list[str]) -> None:
        self._consumer.assign(list(_partitions(partitions).values()))

    def _poll(self, seconds: float) -> None:
        for records in self._consumer.poll(seconds * 1000).values():
            self._inbox.values += [record.value.decode() for record in records]

    def commit_offsets(self) -> None:
        self._consumer.commit()

    def committed(self, partitions: list[str]) -> Any:
        asked = _partitions(partitions)
        return items(asked, lambda name: {"offset": self._consumer.committed(asked[name])})


COMMANDS = line_loop.commands_of(Client)

if __name__ == "__main__":
    line_loop.serve("kafka-python", kafka.__version__, COMMANDS, error_of, CAPABILITIES)
