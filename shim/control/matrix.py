"""Who may do what on which topic: a table of decisions, for people to look at."""

from collections.abc import Iterable, Mapping
from typing import Any

from kafka_shim.authorizer.authorizer import Authorizer, StandardAuthorizer
from kafka_shim.authorizer.implied import supported_operations
from kafka_shim.authorizer.model import ANY_USER, AclFilter, Action, Actor
from kafka_shim.protocol.enums import ResourceType
from kafka_shim.shim.control.problem import authorizer_of
from kafka_shim.shim.observing.history import History
from kafka_shim.shim.state.cluster import Cluster

PRINCIPALS_MAX = 100
TOPICS_MAX = 200

_ASKED = supported_operations(ResourceType.TOPIC)


def matrix(cluster: Cluster, history: History, query: Mapping[str, str]) -> dict[str, Any]:
    """Principals by topics, with the operations that are allowed from a host.

    Principals are those of users, ACLs, super users and the last requests; `truncated` tells that
    there are more than a page shows.
    """
    authorizer = authorizer_of(cluster)
    host = query.get("host", "127.0.0.1")
    principals = sorted(_principals(cluster, authorizer, history))
    topics = sorted(topic.name for topic in cluster.topics)
    shown = topics[:TOPICS_MAX]
    return {
        "host": host,
        "topics": shown,
        "rows": [
            {
                "principal": principal,
                "allowed": [_allowed(authorizer, Actor(principal, host), name) for name in shown],
            }
            for principal in principals[:PRINCIPALS_MAX]
        ],
        "truncated": len(topics) > TOPICS_MAX or len(principals) > PRINCIPALS_MAX,
    }


def _principals(cluster: Cluster, authorizer: Authorizer, history: History) -> set[str]:
    users = {*cluster.users.passwords, *cluster.users.stored_names()}
    found = {f"User:{name}" for name in users}
    found |= {acl.principal for acl in authorizer.acls(AclFilter())} - {ANY_USER}
    found |= {seen.principal for seen in history}
    if isinstance(authorizer, StandardAuthorizer):
        found |= authorizer.super_users
    return found


def _allowed(authorizer: Authorizer, actor: Actor, topic: str) -> list[str]:
    actions: Iterable[Action] = (
        Action(operation, ResourceType.TOPIC, topic) for operation in _ASKED
    )
    return [
        action.operation.name for action in actions if authorizer.authorize(actor, action).allowed
    ]
