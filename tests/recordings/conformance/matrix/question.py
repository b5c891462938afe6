"""Questions: requests that make a broker check one row of the requirements table."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from kafka_shim.authorizer.requirement import NeedAlternative
from kafka_shim.protocol.enums import ApiKey

ANY_ID: Final = "AAAAAAAAAAAAAAAAAAAAAQ"
"""A member id in the form that share groups require."""


class Names:
    """The names of topics, groups and transactional ids that a question can use."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.topic = f"{prefix}-topic"
        self.other_topic = f"{prefix}-topic2"
        self.missing_topic = f"{prefix}-missing"
        self.group = f"{prefix}-group"  # has committed offsets
        self.empty_group = f"{prefix}-empty"  # does not exist
        self.transactional_id = f"{prefix}-tx"


class Asking(NamedTuple):
    """A request; an empty `user` is the user whose permissions vary."""

    api: ApiKey
    request: Mapping[str, Any]
    takes: Mapping[str, str] = {}
    label: str = ""
    user: str = ""
    newest: int = 99


class Question(NamedTuple):
    """A request that makes the check, and requests that prepare it (`before`)."""

    request: Mapping[str, Any]
    before: Sequence[Asking] = ()
    takes: Mapping[str, str] = {}
    denied: Sequence[NeedAlternative] = ()
    """Needs that are always denied, since they would make the broker skip the row's check."""


Asker = Callable[[Names], Question]
