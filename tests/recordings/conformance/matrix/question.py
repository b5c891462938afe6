"""A request that makes a broker check one row of the requirements table."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from kafka_shim.authorizer.requirement import Need
from kafka_shim.protocol.enums import ApiKey

ANY_ID: Final = "AAAAAAAAAAAAAAAAAAAAAQ"
"""A member id as share groups want them."""


class Names:
    """What there is for a question to be about: the topics and groups of one scenario."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.topic = f"{prefix}-topic"
        self.other_topic = f"{prefix}-topic2"
        self.missing_topic = f"{prefix}-missing"
        self.group = f"{prefix}-group"  # has committed offsets
        self.empty_group = f"{prefix}-empty"  # has never been heard of
        self.transactional_id = f"{prefix}-tx"


class Asking(NamedTuple):
    """One request; `user` empty is the one whose permissions vary."""

    api: ApiKey
    request: Mapping[str, Any]
    takes: Mapping[str, str] = {}
    label: str = ""
    user: str = ""
    newest: int = 99


class Question(NamedTuple):
    """Requests of an administrator that set the scene, and the one that counts."""

    request: Mapping[str, Any]
    before: Sequence[Asking] = ()
    takes: Mapping[str, str] = {}
    denied: Sequence[Need] = ()
    """What the user never has, so that the row counts."""


Asker = Callable[[Names], Question]
