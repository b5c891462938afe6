"""What connections are given by the server that has them."""

from typing import Protocol, TypeVar

from kafka_shim.shim.config import Limits
from kafka_shim.shim.dispatch import Dispatcher
from kafka_shim.shim.network.closings import Closings
from kafka_shim.shim.network.connection_quotas import ConnectionQuotas
from kafka_shim.shim.network.large_requests import LargeRequests
from kafka_shim.shim.network.request_memory import RequestMemory

Member_contra = TypeVar("Member_contra", contravariant=True)
"""The class of connections."""


class Holder(Protocol[Member_contra]):
    """Who has connections: what they all share, and whom they tell that they come and go."""

    @property
    def dispatcher(self) -> Dispatcher: ...
    @property
    def received(self) -> memoryview: ...
    @property
    def limits(self) -> Limits: ...
    @property
    def large_requests(self) -> LargeRequests: ...
    @property
    def memory(self) -> RequestMemory: ...
    @property
    def quotas(self) -> ConnectionQuotas: ...
    @property
    def closings(self) -> Closings: ...
    def clock_s(self) -> float: ...
    def accepts(self, connection: Member_contra) -> bool: ...
    def forget(self, connection: Member_contra) -> None: ...
