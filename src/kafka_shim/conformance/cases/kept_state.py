"""What a client keeps between requests: fetch sessions, memberships, and which result is whose."""

from functools import partial
from typing import Any

from kafka_shim.conformance.case import CaseFamily
from kafka_shim.conformance.case_context import (
    EVERYTHING,
    TRANSACTIONAL_PRODUCER,
    CaseContext,
    NotExercisedError,
    UnmetExpectationError,
)
from kafka_shim.conformance.cases.acl_kips import LITERAL, OTHER
from kafka_shim.conformance.denied_command import enables_group_protocol, supports_api
from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode

_KIPS = CaseFamily("kips")
_TROUBLE = CaseFamily("trouble")
_VERSIONS = CaseFamily("versions")
TOPIC, GROUP = "orders", "workers"
_LOST = ErrorCode.FETCH_SESSION_ID_NOT_FOUND
_CLOSED_S = 1.0
"""How long the last requests of a closed client may take."""
_LEAVING_EPOCHS = (-1, -2)
"""Of a member that leaves its group, and of a static one."""


@_TROUBLE.case(
    "fetch-session.lost",
    "a consumer whose fetch session the broker has lost begins another one",
    origin="KIP-227",
    expected_response="the record that is written afterwards",
    expected_requests=f"Fetch after {_LOST.name} has no session, or begins one: epoch 0 or -1",
    commands="consume_assigned",
    supports_release=supports_api(ApiKey.FETCH, 7),
)
async def expect_new_fetch_session(context: CaseContext) -> None:
    await context.create_topics(TOPIC)
    await context.grant_to_user(*EVERYTHING)
    await context.write_record(TOPIC, b"before")
    await context.open_client()
    poll: dict[str, Any] = {"partitions": [f"{TOPIC}-0"], "count": 1, "seconds": 8}
    await context.run_successfully("consume_assigned", **poll)
    context.inject_fault("Fetch", error=_LOST.name)
    await context.run_command("consume_assigned", **{**poll, "seconds": 1})
    await context.write_record(TOPIC, b"afterwards")
    for _ in range(2):  # the first one may still report what was read before
        consumed = await context.run_successfully("consume_assigned", **poll)
        if consumed["values"]:
            break
    else:
        raise UnmetExpectationError("the record that was written", "the client reported no record")
    fetches = context.client_requests(ApiKey.FETCH)
    lost = next((at for at, each in enumerate(fetches) if _LOST in (each.errors or ())), None)
    if lost is None or not fetches[lost].request_message_or_none().session_id:
        raise NotExercisedError("the client sent no Fetch with a session")
    for following in fetches[lost + 1 :][:1]:
        message = following.request_message_or_none()
        if message.session_epoch > 0:
            raise UnmetExpectationError(
                f"a new fetch session after {error_name_with_code(_LOST)}",
                f"the client sent the session {message.session_id} with epoch"
                f" {message.session_epoch}",
            )


async def expect_member_leaves(protocol: str, context: CaseContext) -> None:
    await context.create_topics(TOPIC)
    await context.grant_to_user(*EVERYTHING)
    await context.write_record(TOPIC, b"a")
    await context.open_client({"group_id": GROUP, "group_protocol": protocol})
    await context.consume_values(topics=[TOPIC], count=1, seconds=8)
    await context.close_clients()
    await context.sleep_for_client(_CLOSED_S)
    if not context.can_inspect_requests:
        raise NotExercisedError("the requests cannot be inspected")
    heartbeats = context.client_requests(ApiKey.CONSUMER_GROUP_HEARTBEAT)
    epochs = [each.request_message_or_none().member_epoch for each in heartbeats]
    if not context.client_requests(ApiKey.LEAVE_GROUP) and not set(epochs) & {*_LEAVING_EPOCHS}:
        raise UnmetExpectationError(
            "a request to leave the group when the consumer is closed", "the client sent none"
        )


for _protocol, _capability in ("classic", "classic-groups"), ("consumer", "consumer-groups"):
    _KIPS.add_case(
        f"groups.closed-{_protocol}",
        f"a consumer of the {_protocol} protocol leaves its group when it is closed",
        partial(expect_member_leaves, _protocol),
        origin="KIP-848" if _protocol == "consumer" else "KIP-62",
        expected_response="the record that was written",
        expected_requests="LeaveGroup"
        if _protocol == "classic"
        else "ConsumerGroupHeartbeat with the epoch -1",
        commands="consume",
        capabilities=_capability,
        runs_on_real_cluster=True,
        supports_release=enables_group_protocol(_protocol),
    )


@_VERSIONS.case(
    "basics.offsets-of-several",
    "the offsets of several partitions of a group are those that were committed for each",
    origin="KIP-496",
    expected_response="the offsets 5, 6 and 7",
    commands="alter_group_offsets group_offsets",
    runs_on_real_cluster=True,
)
async def expect_offset_of_each_partition(context: CaseContext) -> None:
    await context.create_topics(TOPIC, partitions=3)
    await context.grant_to_user(*EVERYTHING)
    await context.open_client()
    for partition in range(3):
        await context.run_successfully(
            "alter_group_offsets",
            group=GROUP,
            topic=TOPIC,
            partition=partition,
            offset=5 + partition,
        )
    partitions = [f"{TOPIC}-{partition}" for partition in range(3)]
    response = await context.run_command("group_offsets", group=GROUP, partitions=partitions)
    items = {name: response.item_response(name).ok for name in partitions}
    if items != {name: {"offset": 5 + number} for number, name in enumerate(partitions)}:
        raise UnmetExpectationError("the offsets 5, 6 and 7", f"the client reported {response}")


@_VERSIONS.case(
    "basics.offset-in-transaction",
    "an offset that is added to a transaction is the group's after the commit",
    origin="KIP-98",
    expected_response="the offset 5",
    commands="begin send_offsets commit group_offsets",
    capabilities="transactions",
    runs_on_real_cluster=True,
)
async def expect_transactional_offset_commit(context: CaseContext) -> None:
    await context.create_topics(TOPIC)
    await context.grant_to_user(*EVERYTHING)
    await context.open_client(TRANSACTIONAL_PRODUCER)
    sent = {"group": GROUP, "topic": TOPIC, "partition": 0, "offset": 5}
    steps: tuple[tuple[str, dict[str, Any]], ...] = (
        ("begin", {}),
        ("send_offsets", sent),
        ("commit", {}),
    )
    for command, fields in steps:
        await context.run_successfully(command, **fields)
    await context.wait_for_applied_changes()
    found = await context.run_successfully("group_offsets", group=GROUP, partitions=[f"{TOPIC}-0"])
    if found != {"offset": 5}:
        raise UnmetExpectationError("the offset 5", f"the client reported {found}")


@_KIPS.case(
    "acls.delete-several",
    "delete_acls with two filters reports for each the ACL that it deleted",
    origin="KIP-140",
    expected_response="one ACL for each filter",
    commands="delete_acls",
    runs_on_real_cluster=True,
)
async def expect_deleted_acl_per_filter(context: CaseContext) -> None:
    await context.grant_to_user(*EVERYTHING)
    for acl in (LITERAL, OTHER):
        await context.grant_to_user(
            {
                "principal": acl["principal"],
                acl["permission"].lower(): [acl["operation"]],
                "topic": acl["name"],
                "host": acl["host"],
            }
        )
    await context.open_client()
    response = await context.run_command("delete_acls", filters=[LITERAL, OTHER])
    for name, acl in (("0", LITERAL), ("1", OTHER)):
        item = response.item_response(name)
        if item.ok is None or item.ok["acls"] != [acl]:
            raise UnmetExpectationError(
                f"for the filter {name} the ACL of {acl['principal']}",
                f"the client reported {item}",
            )


CASES = (*_KIPS.cases, *_TROUBLE.cases, *_VERSIONS.cases)
