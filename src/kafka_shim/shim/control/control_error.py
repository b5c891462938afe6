"""The errors of the control API, and lookups that raise them."""

from collections.abc import Mapping

from kafka_shim.authorizer.authorizer import Authorizer
from kafka_shim.authorizer.model import is_principal, with_user_type
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.text.whole_number import parse_whole_number


class ControlError(Exception):
    """An error with its HTTP `status` and a text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def authorizer_of(cluster: Cluster) -> Authorizer:
    """Return the cluster's authorizer. Raise ControlError if there is none."""
    authorizer = cluster.policy.authorizer
    if authorizer is None:
        raise ControlError(409, "the broker has no authorizer, so it has no ACLs")
    return authorizer


def query_number(query: Mapping[str, str], name: str, default: int) -> int:
    """Return a number of the query. Raise ControlError if it is invalid."""
    if name not in query:
        return default
    number = parse_whole_number(query[name])
    if number is None:
        raise ControlError(400, f"invalid {name} `{query[name]}`; expected a number of 0 or more")
    return number


def query_principal(query: Mapping[str, str], name: str = "principal") -> str | None:
    """Return a principal of the query; one without a type is a user. Raise ControlError if it is
    invalid.
    """
    if name not in query:
        return None
    principal = with_user_type(query[name])
    if not is_principal(principal):
        expected = "expected one such as alice or User:alice"
        raise ControlError(400, f"invalid {name} `{query[name]}`; {expected}")
    return principal


def query_flag(query: Mapping[str, str], name: str) -> bool:
    """Return a flag of the query; without it false. Raise ControlError if it is invalid."""
    text = query.get(name, "false")
    if text not in ("true", "false"):
        raise ControlError(400, f"invalid {name} `{text}`; expected true or false")
    return text == "true"
