"""kafka-python's driver with a client that lies: `lying_kafka_python.py LIE`.

Each lie is of one kind: the client does something else than the command says and reports success,
or it does that and reports something else. `test_lies.py` has the cases that must notice it.
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "conformance" / "drivers"))

import kafka_python_driver as driver
from line_loop import serve

Commands = dict[str, Any]


def asked(command: str, field: str, change: Callable[[Any], Any]) -> Callable[[Commands], None]:
    """Return a plant that changes a field of a command before the client sees it."""

    def plant(commands: Commands) -> None:
        honest = commands[command]
        commands[command] = lambda **fields: honest(**{**fields, field: change(fields[field])})

    return plant


def told(command: str, change: Callable[[Any], Any]) -> Callable[[Commands], None]:
    """Return a plant that changes the result of a command."""

    def plant(commands: Commands) -> None:
        honest = commands[command]
        commands[command] = lambda **fields: change(honest(**fields))

    return plant


def each_item(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda ok: {
        "items": {name: change(item) if isinstance(item, dict) else item
                  for name, item in ok["items"].items()}
    }  # fmt: skip


def with_field(field: str, change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda result: {**result, field: change(result[field])} if field in result else result


def without_last_item(ok: Any) -> Any:
    return {"items": dict([*ok["items"].items()][:-1])}


def swapped_items(ok: Any) -> Any:
    names = [*ok["items"]]
    return {"items": dict(zip(names, reversed(ok["items"].values()), strict=True))}


def plus_one(value: int) -> int:
    return value + 1


def counts_plus_one(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count + 1 for name, count in counts.items()}


def first_row_with(**fields: Any) -> Callable[[Any], Any]:
    return lambda rows: [{**rows[0], **fields}, *rows[1:]]


def commits_one_too_far(_: Commands) -> None:
    def commit(client: Any) -> None:
        consumer = client._consumer
        positions = {each: consumer.position(each) for each in consumer.assignment()}
        consumer.commit(
            {
                each: driver.OffsetAndMetadata(position + 1, "", -1)
                for each, position in positions.items()
            }
        )

    driver.Client.commit_offsets = commit


def never_leaves(_: Commands) -> None:
    from kafka.coordinator.base import BaseCoordinator

    BaseCoordinator.maybe_leave_group = lambda *_, **__: None


def keeps_fetch_session(_: Commands) -> None:
    from kafka.consumer import fetcher

    honest = fetcher.FetchSessionHandler.handle_response

    def handle_response(handler: Any, response: Any) -> Any:
        before = handler.next_metadata
        result = honest(handler, response)
        if response.error_code == 70:
            handler.next_metadata = before.next_incremental()
        return result

    fetcher.FetchSessionHandler.handle_response = handle_response


def fails_whole_request(_: Commands) -> None:
    from kafka.producer.sender import Sender

    honest = Sender._handle_produce_response

    def handle(sender: Any, node_id: Any, send_time: Any, batches: Any, response: Any) -> None:
        rows = [row for topic in response.responses for row in topic.partition_responses]
        codes = [row.error_code for row in rows if row.error_code]
        for row in rows:
            row.error_code = codes[0] if codes else 0
        honest(sender, node_id, send_time, batches, response)

    Sender._handle_produce_response = handle


PLANTS: Mapping[str, Callable[[Commands], None]] = {
    "commits one too far": commits_one_too_far,
    "never leaves its group": never_leaves,
    "keeps its fetch session": keeps_fetch_session,
    "fails a whole Produce request": fails_whole_request,
    "alters an offset one too far": asked("alter_group_offsets", "offset", plus_one),
    "sends an offset one too far": asked("send_offsets", "offset", plus_one),
    "creates another number of partitions": asked("create_topics", "topics", counts_plus_one),
    "adds another number of partitions": asked("create_partitions", "topics", counts_plus_one),
    "deletes other records": asked("delete_records", "before", lambda before: before - 1),
    "alters to another value": asked("alter_configs", "value", lambda value: f"{value}0"),
    "creates an ACL for another operation": asked(
        "create_acls", "acls", first_row_with(operation="WRITE")
    ),
    "describes ACLs of another principal": asked(
        "describe_acls", "filter", lambda row: {**row, "principal": "User:dora"}
    ),
    "deletes ACLs of all hosts": asked("delete_acls", "filters", first_row_with(host=None)),
    "mixes up the results of filters": told("delete_acls", swapped_items),
    "names another filter": told(
        "delete_acls", each_item(with_field("filter", lambda row: {**row, "name": "x"}))
    ),
    "writes another value": asked(
        "produce", "values", lambda values: [f"{each}!" for each in values]
    ),
    "writes a value twice": asked("produce_to_several", "topics", lambda topics: topics[1:]),
    "loses the last partition": told("group_offsets", without_last_item),
    "deletes another topic": asked("delete_topics", "names", lambda names: names[:-1]),
    "reports another committed offset": told(
        "committed", each_item(with_field("offset", plus_one))
    ),
    "reports an end offset too large": told(
        "list_offsets", each_item(with_field("offset", plus_one))
    ),
    "reports an offset too large": told(
        "produce", with_field("offsets", lambda offsets: [each + 1 for each in offsets])
    ),
    "reports a partition too many": told(
        "describe_topics", each_item(with_field("partitions", plus_one))
    ),
    "reports a member too many": told(
        "describe_groups", each_item(with_field("members", plus_one))
    ),
    "loses a topic": told("list_topics", with_field("topics", lambda names: names[:-1])),
    "makes up a group": told(
        "list_groups", with_field("groups", lambda names: [*names, "made-up"])
    ),
    "loses a broker": told("describe_cluster", with_field("brokers", lambda ids: ids[:-1])),
    "reports another setting": told(
        "describe_configs",
        each_item(with_field("settings", lambda all_: dict.fromkeys(all_, "0"))),
    ),
    "reports values in another order": told(
        "consume", with_field("values", lambda values: values[::-1])
    ),
    "reports offsets in another order": told(
        "produce", with_field("offsets", lambda offsets: offsets[::-1])
    ),
    "makes up a setting": told(
        "describe_configs", each_item(with_field("settings", lambda all_: {**all_, "made.up": "0"}))
    ),
    "repeats a value": told("consume", with_field("values", lambda values: [*values, *values])),
}


if __name__ == "__main__":
    commands = dict(driver.COMMANDS)
    PLANTS[sys.argv[1]](commands)
    if sys.argv[1] == "commits one too far":
        commands = dict(driver.line_loop.commands_of(driver.Client))
    serve("liar", sys.argv[1], commands, driver.error_of, driver.CAPABILITIES)
