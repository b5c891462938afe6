"""What a tool shows, such as a user interface or an exporter, where some items are denied.

Each situation has two cases: `shows-others`, the tool still shows what it is allowed to see, and
`names-denied`, it says about the denied items that they are denied, instead of leaving them out.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl
from kafka_shim.conformance import RequirementLevel
from kafka_shim.conformance.case import CaseFamily, ReleasePredicate
from kafka_shim.conformance.case_context import CaseContext, UnmetExpectationError
from kafka_shim.conformance.denied_command import supports_api
from kafka_shim.conformance.fixtures import ClusterSetup
from kafka_shim.protocol.enums import (
    NO_OPERATIONS,
    ApiKey,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from kafka_shim.shim.state.coordinators import KeyType

_TOOLS = CaseFamily("tools")
NOT_SHOWN = "NotShown"
"""The class of an error with which a driver says that the tool shows nothing about an item."""
_MANY_ACLS = 60_000
_DESCRIBE_CLUSTER: Mapping[str, Any] = {"allow": ["Describe"], "cluster": "kafka-cluster"}
_READ_CONFIGS: Mapping[str, Any] = {"allow": ["DescribeConfigs"], "topic": "*"}
Preparation = Callable[[CaseContext], Awaitable[None]]


async def _do_nothing(_: CaseContext) -> None:
    """Change nothing between the list and the details."""


class Situation(NamedTuple):
    """A cluster of which a tool shows one kind of items.

    `prepare` makes the cluster, and `change` changes it between `list` and the next command.
    `gone` are items about which the tool may say anything.
    `command` is what is done then with the items; empty: only the list is judged.
    """

    name: str
    title: str
    kind: str
    prepare: Preparation
    shown: Sequence[str]
    denied: Sequence[str] = ()
    gone: Sequence[str] = ()
    command: str = "describe"
    change: Preparation = _do_nothing
    setup: ClusterSetup = ClusterSetup()
    supports_release: ReleasePredicate = lambda _: True
    runs_on_real_cluster: bool = True
    shown_count: int = 0
    """At least so many items are in the list."""


async def _prepare_groups(context: CaseContext, *rules: Mapping[str, Any]) -> None:
    await context.create_topics("orders")
    await context.create_empty_groups("open", "hidden", topic="orders")
    await context.grant_to_user(
        {"allow": ["Describe", "DescribeConfigs"], "topic": "orders"},
        {"allow": ["Describe"], "group": "open"},
        *rules,
    )


async def _prepare_listed_groups(context: CaseContext) -> None:
    await _prepare_groups(context, _DESCRIBE_CLUSTER)


async def _prepare_stored_groups(context: CaseContext) -> None:
    await _prepare_groups(context)
    if context.runs_on_shim:  # a real broker has created it for the offsets of the groups
        coordinators = context.shim_broker.cluster.coordinators
        coordinators.coordinator_partition_creating_topic(KeyType.GROUP, "open")


async def _prepare_topics(context: CaseContext) -> None:
    await context.create_topics("orders", "payments")
    await context.grant_to_user(
        *(
            {"allow": ["Describe", "AlterConfigs"], "topic": name}
            for name in ("orders", "payments")
        ),
        _READ_CONFIGS,
    )


async def _prepare_denied_topic(context: CaseContext) -> None:
    await context.create_topics("orders", "payments")
    await context.grant_to_user(
        {"allow": ["Describe", "AlterConfigs", "DescribeConfigs"], "topic": "orders"}
    )


async def _delete_payments(context: CaseContext) -> None:
    await context.delete_topic("payments")


async def _prepare_brokers(context: CaseContext) -> None:
    await context.grant_to_user(
        {"allow": ["Describe", "DescribeConfigs"], "cluster": "kafka-cluster"}
    )
    for api in ("DescribeConfigs", "DescribeLogDirs"):
        error = "CLUSTER_AUTHORIZATION_FAILED"
        context.inject_fault(api, match={"node_id": 2}, error=error, times=0)


async def _prepare_acls(context: CaseContext, acls: Sequence[Acl]) -> None:
    """Store ACLs without the checks of CreateAcls: clusters keep odd ones from old releases."""
    await context.grant_to_user(_DESCRIBE_CLUSTER)
    authorizer = context.shim_broker.cluster.policy.authorizer
    assert isinstance(authorizer, StandardAuthorizer)
    for acl in acls:
        authorizer.store.add(acl)


def _topic_read_acl(principal: str, topic: str = "orders") -> Acl:
    kind, pattern = ResourceType.TOPIC, PatternType.LITERAL
    return Acl(kind, topic, pattern, principal, "*", Operation.READ, Permission.ALLOW)


async def _prepare_odd_principals(context: CaseContext) -> None:
    principals = ("User:bob", "carol", "User:", "User:CN=dave, OU=a:b", "Group:ops")
    await _prepare_acls(context, [_topic_read_acl(principal) for principal in principals])


async def _prepare_many_acls(context: CaseContext) -> None:
    await _prepare_acls(
        context, [_topic_read_acl("User:bob", f"topic-{number}") for number in range(_MANY_ACLS)]
    )


async def _prepare_unknown_operations(context: CaseContext) -> None:
    await _prepare_topics(context)
    for api, field in (
        ("Metadata", "topics.*.topic_authorized_operations"),
        ("DescribeTopicPartitions", "topics.*.topic_authorized_operations"),
    ):
        context.inject_fault(api, set={field: NO_OPERATIONS}, times=0)


SITUATIONS = (
    Situation(
        "listed-group", "a group that is listed cannot be described",
        "groups", _prepare_listed_groups, ["open"], ["hidden"],
    ),
    Situation(
        "hidden-group", "a group is hidden, since the user lacks Describe on it and on the cluster",
        "groups", _prepare_groups, ["open"], command="",
    ),
    Situation(
        "vanished-topic", "a topic is deleted between the list and its description",
        "topics", _prepare_topics, ["orders"], gone=["payments"], change=_delete_payments,
    ),
    Situation(
        "denied-topic", "one of two topics cannot be described",
        "topics", _prepare_denied_topic, ["orders"], ["payments"],
    ),
    Situation(
        "denied-change", "a setting of one of two topics cannot be altered",
        "topics", _prepare_denied_topic, ["orders"], ["payments"], command="change",
    ),
    Situation(
        "denied-broker", "one of three brokers denies DescribeConfigs and DescribeLogDirs",
        "brokers", _prepare_brokers, ["1", "3"], ["2"],
        setup=ClusterSetup(brokers=3), runs_on_real_cluster=False,
    ),
    Situation(
        "no-cluster-describe", "the user lacks Describe on the cluster",
        "topics", _prepare_topics, ["orders", "payments"],
    ),
    Situation(
        "internal-topics", "the topic __consumer_offsets exists, and is hidden from the user",
        "topics", _prepare_stored_groups, ["orders"],
    ),
    Situation(
        "odd-principals", "the list of ACLs has principals without type, without name, with colons",
        "acls", _prepare_odd_principals, ["User:bob", "User:CN=dave, OU=a:b", "Group:ops"],
        command="", runs_on_real_cluster=False,
    ),
    Situation(
        "many-acls", "the list has 60,000 ACLs",
        "acls", _prepare_many_acls, ["User:bob"], command="", shown_count=_MANY_ACLS,
        runs_on_real_cluster=False,
    ),
    Situation(
        "no-operations", "authorized operations are missing in responses that were asked for them",
        "topics", _prepare_unknown_operations, ["orders", "payments"],
        supports_release=supports_api(ApiKey.METADATA, 8), runs_on_real_cluster=False,
    ),
)  # fmt: skip


async def expect_allowed_items_shown(situation: Situation, context: CaseContext) -> None:
    items = await _run_tool(situation, context)
    for name in situation.shown:
        response = items.get(name)
        if response is None:
            raise UnmetExpectationError(
                f"`{name}` among the {situation.kind}", f"the tool shows {_shown_names_text(items)}"
            )
        if response is not True:
            raise UnmetExpectationError(f"details of `{name}`", f"the tool reports {response}")


async def expect_denied_items_reported(situation: Situation, context: CaseContext) -> None:
    items = await _run_tool(situation, context)
    for name in situation.denied:
        response = items.get(name)
        if response is True:
            raise UnmetExpectationError(f"an error for `{name}`", "the tool reports success")
        if response is None or response.name == NOT_SHOWN:
            raise UnmetExpectationError(
                f"an error for `{name}`",
                f"the tool leaves it out, and shows {_shown_names_text(items)}",
            )


async def _run_tool(situation: Situation, context: CaseContext) -> dict[str, Any]:
    """Return what the tool shows: True by name, or the error that it shows in its place."""
    await situation.prepare(context)
    await context.open_client()
    listed = await context.run_successfully("list", kind=situation.kind)
    names: list[str] = listed["names"]
    if len(names) < situation.shown_count:
        raise UnmetExpectationError(
            f"{situation.shown_count} {situation.kind}", f"the tool shows {len(names)}"
        )
    if not situation.command:
        return dict.fromkeys(names, True)
    await situation.change(context)
    fields: dict[str, Any] = {"names": [*situation.shown, *situation.denied, *situation.gone]}
    if situation.command == "change":
        fields |= {"setting": "retention.ms", "value": "3600000"}
    else:
        fields["kind"] = situation.kind
    response = await context.run_command(situation.command, **fields)
    if response.ok is None:
        raise UnmetExpectationError(
            f"a result for each of {_names_text(fields['names'])}",
            f"the tool fails as a whole: {response}",
        )
    answers = {name: response.item_response(name) for name in fields["names"]}
    return {name: each.error or True for name, each in answers.items()}


def _shown_names_text(items: Mapping[str, Any]) -> str:
    return _names_text([name for name, response in items.items() if response is True])


def _names_text(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names[:5]) or "nothing"


for _situation in SITUATIONS:
    _commands = f"list {_situation.command}"
    _TOOLS.add_case(
        f"{_situation.name}.shows-others",
        f"{_situation.title}: the tool shows the others",
        partial(expect_allowed_items_shown, _situation),
        origin="partial denial",
        expected_response=f"{_names_text(_situation.shown)} without an error",
        commands=_commands,
        setup=_situation.setup,
        supports_release=_situation.supports_release,
        runs_on_real_cluster=_situation.runs_on_real_cluster,
    )
    if _situation.denied:
        _TOOLS.add_case(
            f"{_situation.name}.names-denied",
            f"{_situation.title}: the tool names it",
            partial(expect_denied_items_reported, _situation),
            origin="partial denial",
            expected_response=f"an error for {_names_text(_situation.denied)}",
            commands=_commands,
            level=RequirementLevel.SHOULD,
            setup=_situation.setup,
            supports_release=_situation.supports_release,
            runs_on_real_cluster=_situation.runs_on_real_cluster,
        )


CASES = _TOOLS.cases
