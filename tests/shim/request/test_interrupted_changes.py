"""Other requests never see half of a change, wherever the time slice of a large request ends."""

from collections.abc import Callable
from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.shim.dispatching.dispatcher import Dispatcher
from kafka_shim.shim.request.session import Session
from tests.shim.play import ADMIN, Stage
from tests.shim.request.stretches import Stretches
from tests.support.frames import request_frame

PARTITIONS = 100


class InterruptedRequest(Stretches):
    """A request whose time slices end wherever they can; `meanwhile` is called between them."""

    def __init__(
        self, dispatcher: Dispatcher, frame: bytes, session: Session, meanwhile: Callable[[], None]
    ) -> None:
        super().__init__(dispatcher, frame, session)
        self._meanwhile = meanwhile

    def yield_if_slice_ended(self) -> None:
        self._slice_ends_s = 0.0
        super().yield_if_slice_ended()

    def _run_slice_then_reschedule_or_finish(self) -> None:
        super()._run_slice_then_reschedule_or_finish()
        self._meanwhile()


def test_partitions_are_added_to_a_transaction_in_one_time_slice() -> None:
    stage = Stage()
    stage.topic("orders", PARTITIONS)
    producer = stage.ask(ApiKey.INIT_PRODUCER_ID, 4, InitProducerIdRequest("tx", 60_000))
    partitions = AddPartitionsToTxnTopic("orders", list(range(PARTITIONS)))
    transaction = AddPartitionsToTxnTransaction(
        "tx", producer.producer_id, producer.producer_epoch, topics=[partitions]
    )
    request: Any = AddPartitionsToTxnRequest(transactions=[transaction])
    frame = request_frame(ApiKey.ADD_PARTITIONS_TO_TXN, 5, request)
    seen = []

    def look() -> None:
        found = stage.cluster.transactions.get_for_reading("tx")
        assert found is not None
        seen.append((found.is_ongoing, len(found.partitions)))

    InterruptedRequest(stage.dispatcher, frame, stage.session(ADMIN), look).run()
    assert len(seen) > PARTITIONS
    assert {*seen} == {(False, 0), (True, PARTITIONS)}
