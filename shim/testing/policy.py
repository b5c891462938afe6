"""`kafka_policy`: ACLs of files, asked and judged without a broker."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kafka_shim.authorizer.acl_formats import read
from kafka_shim.authorizer.acl_names import AclTextError, parse_operation, parse_resource_type
from kafka_shim.authorizer.acl_releases import rules_of
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl, Action, Actor, is_principal
from kafka_shim.authorizer.policy.expectation import parse_expectation
from kafka_shim.authorizer.policy.judge import Judge
from kafka_shim.authorizer.store import AclStore
from kafka_shim.authorizer.validate import check_acl
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.enums import CLUSTER_NAME, ResourceType


class KafkaPolicy:
    """The decisions of a Kafka release by the ACLs of files, of any form."""

    def __init__(self, paths: Iterable[str | Path], release: str | None = None) -> None:
        self.release = release or RELEASES[-1]
        acls = [acl for path in paths for acl in _acls(Path(path), self.release)]
        store = AclStore(acls)
        self._authorizer = StandardAuthorizer(rules=rules_of(self.release), store=store)

    def allows(
        self, principal: str, operation: str, resource: str, host: str = "127.0.0.1"
    ) -> bool:
        """Whether `User:alice` may `Write` on `topic:orders`; `cluster` has no name.

        ValueError for what is no principal, operation or resource.
        """
        if not is_principal(principal):
            raise ValueError(f"`{principal}`: expected Type:name, as in User:alice")
        kind, _, name = resource.partition(":")
        resource_type = parse_resource_type(kind)
        if resource_type is ResourceType.CLUSTER:
            name = CLUSTER_NAME
        if not name:
            raise ValueError(f"`{resource}`: expected TYPE:NAME, as in topic:orders")
        action = Action(parse_operation(operation), resource_type, name)
        return self._authorizer.authorize(Actor(principal, host), action).allowed

    def holds(self, **expectation: Any) -> bool:
        """Whether an expectation of `kafka-shim policy test` holds; `may_not` is `may-not`.

        ValueError, saying what was expected, if it is none.
        """
        entry: Mapping[str, Any] = {key.replace("_", "-"): v for key, v in expectation.items()}
        wanted = parse_expectation(entry, "expectation", self.release)
        return Judge(self._authorizer).verdict(wanted).held


def _acls(path: Path, release: str) -> list[Acl]:
    text = path.read_text(encoding="utf-8")
    if not text.strip():
        raise ValueError(f"{path}: the file is empty; `acls: []` says that there are no ACLs")
    try:
        acls = read(text)
    except AclTextError as error:
        raise ValueError(f"{path}: {error}") from error
    for acl in acls:
        refusal = check_acl(acl, rules_of(release))
        if refusal is not None:
            raise ValueError(f"{path}: Kafka {release} refuses {acl}: {refusal.message}")
    return acls
