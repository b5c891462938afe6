"""What others see of a transaction: its records by isolation level, and its offsets (KIP-98)."""

from functools import partial

from kafka_shim.conformance.case import CaseFamily
from kafka_shim.conformance.case_context import (
    EVERYTHING,
    TRANSACTIONAL_PRODUCER,
    CaseContext,
    UnmetExpectationError,
)

_KIPS = CaseFamily("kips")
TOPIC, GROUP = "orders", "workers"
_PRODUCER = "producer"
_SECONDS = 8


async def _open_transactional_producer(context: CaseContext) -> None:
    await context.create_topics(TOPIC)
    await context.grant_to_user(*EVERYTHING)
    await context.open_client(TRANSACTIONAL_PRODUCER, client=_PRODUCER)


async def _run_with_producer(context: CaseContext, *commands: str, value: str = "") -> None:
    for command in commands:
        fields = {"topic": TOPIC, "values": [value]} if command == "produce" else {}
        await context.run_successfully(command, client=_PRODUCER, **fields)


async def expect_records_of_isolation_level(
    isolation_level: str, expected: list[str], context: CaseContext
) -> None:
    await _open_transactional_producer(context)
    await _run_with_producer(context, "begin", "produce", "abort", value="aborted")
    await _run_with_producer(context, "begin", "produce", "commit", value="committed")
    await context.open_client({"isolation_level": isolation_level})
    values: list[str] = []
    for count, seconds in ((len(expected), _SECONDS), (1, 1)):
        consumed = await context.run_successfully(
            "consume_assigned", partitions=[f"{TOPIC}-0"], count=count, seconds=seconds
        )
        values += consumed["values"]
    if values != expected:
        raise UnmetExpectationError(f"the values {expected}", f"the client reported {values}")


for _name, _level, _expected, _what in (
    ("read-committed", "read_committed", ["committed"], "does not get records of an aborted one"),
    ("read-uncommitted", "read_uncommitted", ["aborted", "committed"], "gets all records"),
):
    _KIPS.add_case(
        f"transactions.{_name}",
        f"a consumer with isolation.level {_level} {_what}",
        partial(expect_records_of_isolation_level, _level, _expected),
        origin="KIP-98",
        expected_response=f"the values {', '.join(_expected)}",
        expected_requests="aborted transactions are in the Fetch response",
        commands="begin produce commit abort consume_assigned",
        capabilities="transactions",
        runs_on_real_cluster=True,
    )


async def expect_committed_offset(end: str, expected: int | None, context: CaseContext) -> None:
    await _open_transactional_producer(context)
    await context.open_client()
    await _run_with_producer(context, "begin")
    await context.run_successfully(
        "send_offsets", client=_PRODUCER, group=GROUP, topic=TOPIC, partition=0, offset=7
    )
    await _run_with_producer(context, end)
    read = await context.run_successfully("group_offsets", group=GROUP, partitions=[f"{TOPIC}-0"])
    if read != {"offset": expected}:
        raise UnmetExpectationError(f"offset {expected}", f"the client reported {read}")


for _end, _offset in (("commit", 7), ("abort", None)):
    _KIPS.add_case(
        f"transactions.offsets-after-{_end}",
        f"after {_end}, the group has {'the' if _offset else 'no'} offset of the transaction",
        partial(expect_committed_offset, _end, _offset),
        origin="KIP-447",
        expected_response="offset 7" if _offset else "no offset",
        commands=f"begin send_offsets {_end} group_offsets",
        capabilities="transactions",
        runs_on_real_cluster=True,
    )

CASES = _KIPS.cases
