"""A client under test: a process that reads calls and writes answers, one line of JSON each.

Request:  {"call": NAME, "servers": HOST:PORT, "login": LOGIN or null, "arguments": {...}}
Answer:   {"result": VALUE} or {"error": {"code": INT or null, "name": TEXT, "text": TEXT}}
`code` is the Kafka error code that the client reported, null for an error of the client itself.
A LOGIN has the fields of `Login`. Enum values are written by Kafka's names (`DESCRIBE_CONFIGS`);
null or `ANY` matches any value.
"""

import contextlib
import json
import queue
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.clients.broker import Bootstrap
from tests.clients.drivers.json_lines import Login

ANSWER_SECONDS = 45
"""Longer than any deadline inside a driver, so it is exceeded only if a client hangs."""


class Acl(NamedTuple):
    """An ACL or, with ANY and None, a filter for ACLs; enum values are Kafka's names."""

    resource_type: str
    name: str | None
    pattern_type: str
    principal: str | None
    host: str | None
    operation: str
    permission: str


User = str | Login | None
"""A user who logs in with PLAIN, another log-in, or None for the anonymous super user."""


class ClientError(Exception):
    """An error of the client; `code` is Kafka's error code, None for the client's own errors."""

    def __init__(self, code: int | None, name: str, text: str) -> None:
        super().__init__(f"{name} ({code}): {text}")
        self.code = code


class Driver:
    """Calls to a client; each client supports as many of them as it can."""

    def __init__(self, process: subprocess.Popen[str], bootstrap: Bootstrap, log: Path) -> None:
        self._process = process
        self._bootstrap = bootstrap
        self._log = log
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def create_topic(self, topic: str) -> None:
        self._call("create_topic", topic=topic)

    def delete_topic(self, topic: str) -> None:
        self._call("delete_topic", topic=topic)

    def list_topics(self, user: User) -> set[str]:
        return set(self._call("list_topics", user))

    def create_acls(self, acls: Sequence[Acl], user: User = None) -> list[int]:
        """Create ACLs; return the error codes of those that failed."""
        codes: list[int] = self._call("create_acls", user, acls=[acl._asdict() for acl in acls])
        return codes

    def list_acls(self, acl_filter: Acl, user: User = None) -> set[Acl]:
        return _acls(self._call("list_acls", user, filter=acl_filter._asdict()))

    def delete_acls(self, filters: Sequence[Acl], user: User = None) -> list[set[Acl]]:
        """Return the ACLs that each filter deleted."""
        found = self._call(
            "delete_acls", user, filters=[acl_filter._asdict() for acl_filter in filters]
        )
        return [_acls(acls) for acls in found]

    def cluster_operations(self, user: User) -> set[str]:
        return set(self._call("cluster_operations", user))

    def topic_operations(self, topic: str, user: User) -> set[str]:
        return set(self._call("topic_operations", user, topic=topic))

    def group_operations(self, group: str, user: User) -> set[str]:
        return set(self._call("group_operations", user, group=group))

    def produce(
        self, topic: str, values: Sequence[str], user: User, idempotent: bool = False
    ) -> list[int]:
        """Return the offset of each value; raise the first error."""
        offsets: list[int] = self._call(
            "produce", user, topic=topic, values=list(values), idempotent=idempotent
        )
        return offsets

    def consume(
        self,
        topic: str,
        group: str,
        count: int,
        user: User,
        seconds: float = 20,
        **java_only: str,
    ) -> list[str]:
        """Join the group, read `count` values from the start of the topic, commit, leave."""
        values: list[str] = self._call(
            "consume", user, topic=topic, group=group, count=count, seconds=seconds, **java_only
        )
        return values

    def transact(
        self, topic: str, output: str, group: str, transactional_id: str, count: int, user: User
    ) -> list[str]:
        """Java only: abort a transaction, then copy `count` values in capitals in another one;
        return what a consumer with isolation level read_committed reads.
        """
        values: list[str] = self._call(
            "transact", user, topic=topic, output=output, group=group,
            transactional_id=transactional_id, count=count,
        )  # fmt: skip
        return values

    def count_words(
        self, topic: str, output: str, group: str, count: int, user: User, **settings: str
    ) -> dict[str, int]:
        """Java only: run the word count of Kafka Streams until `count` words were counted.

        Settings are `group_protocol` and `guarantee`.
        """
        counts: dict[str, int] = self._call(
            "count_words", user, topic=topic, output=output, group=group, count=count, **settings
        )
        return counts

    def commit_offset(self, group: str, topic: str, offset: int, user: User = None) -> None:
        """Set the group's offset in partition 0 from outside the group."""
        self._call("commit_offset", user, group=group, topic=topic, offset=offset)

    def offset_fetch(
        self, group: str, topic: str | None, user: User
    ) -> dict[str, int | ClientError]:
        """Return offsets by `topic-partition`: of partition 0 of a topic, or of the group (None).

        -1 means no offset; the error of a single partition is returned instead of its offset.
        """
        found = self._call("offset_fetch", user, group=group, topic=topic)
        return {
            key: _error(value) if isinstance(value, dict) else value for key, value in found.items()
        }

    def share_from_the_start(self, group: str) -> None:
        """Java only: let a share group begin with the first record of each partition."""
        self._call("share_from_the_start", group=group)

    def share_consume(
        self,
        topic: str,
        group: str,
        count: int,
        user: User = None,
        *,
        types: Mapping[str, Sequence[str]] | None = None,
        seconds: float = 20,
    ) -> list[tuple[str, int]]:
        """Java only: return value and delivery count of `count` deliveries to a share consumer.

        `types` are the acknowledgements of a value, one for each delivery; others are accepted.
        """
        asked = {name: list(each) for name, each in (types or {}).items()}
        found = self._call(
            "share_consume",
            user,
            topic=topic,
            group=group,
            count=count,
            types=asked,
            seconds=seconds,
        )
        return [(value, times) for value, times in found]

    def share_offsets(self, group: str) -> list[tuple[int, int]]:
        """Java only: return the start offset and the lag of a share group in each partition."""
        return [(start, lag) for start, lag in self._call("share_offsets", group=group)]

    def console_consumer(self, *arguments: str, user: User = None) -> tuple[int, str]:
        """Java only: return exit code and output of `kafka-console-consumer ... arguments`."""
        exit_code, output = self._call("console_consumer", user, arguments=list(arguments))
        return exit_code, output

    def console_share_consumer(self, *arguments: str, user: User = None) -> tuple[int, str]:
        """Java only: return exit code and output of `kafka-console-share-consumer ...`."""
        exit_code, output = self._call("console_share_consumer", user, arguments=list(arguments))
        return exit_code, output

    def kafka_acls(self, *arguments: str, user: User = None) -> tuple[int, str]:
        """Java only: return exit code and output of `kafka-acls --bootstrap-server ...`."""
        exit_code, output = self._call("kafka_acls", user, arguments=list(arguments))
        return exit_code, output

    def _call(self, call: str, user: User = None, **arguments: Any) -> Any:
        login = plain(user) if isinstance(user, str) else user
        request = {
            "call": call,
            "servers": self._bootstrap.of(None if login is None else login.protocol),
            "login": None if login is None else login._asdict(),
            "arguments": arguments,
        }
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        try:
            line = self._lines.get(timeout=ANSWER_SECONDS)
        except queue.Empty:
            self._process.kill()  # a late answer would be read as that of the next call
            line = ""
        if not line:
            raise AssertionError(f"the driver gave no answer to {request}\n{self._log_tail()}")
        response = json.loads(line)
        if "error" in response:
            raise _error(response["error"])
        return response["result"]

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def _log_tail(self) -> str:
        return self._log.read_text(errors="replace")[-4000:]


@contextlib.contextmanager
def started(command: Sequence[str], bootstrap: Bootstrap, folder: Path) -> Iterator[Driver]:
    """Run a driver process for the duration of the block; its stderr goes to a file in `folder`."""
    log = folder / "driver.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        )
        try:
            yield Driver(process, bootstrap, log)
        finally:
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()  # tells the driver to end
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            assert process.stdout is not None
            process.stdout.close()


def plain(user: str) -> Login:
    """Return the PLAIN log-in of a user; in these tests the password is NAME-secret."""
    return Login("SASL_PLAINTEXT", "PLAIN", user, f"{user}-secret")


def _acls(found: list[dict[str, str]]) -> set[Acl]:
    acls = [Acl(**fields) for fields in found]
    assert len(set(acls)) == len(acls), f"an ACL was listed twice: {acls}"
    return set(acls)


def _error(found: dict[str, Any]) -> ClientError:
    return ClientError(found["code"], found["name"], found["text"])
