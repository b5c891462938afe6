"""How a verb of the control API says that it cannot be done."""

from kafka_shim.authorizer.authorizer import Authorizer
from kafka_shim.shim.state.cluster import Cluster


class ControlError(Exception):
    """`status` as in HTTP, the text says why."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def authorizer_of(cluster: Cluster) -> Authorizer:
    """The cluster's authorizer; ControlError without one."""
    authorizer = cluster.policy.authorizer
    if authorizer is None:
        raise ControlError(409, "the broker has no authorizer, so it has no ACLs")
    return authorizer
