"""Masks the records in what a proxy observes, before they are recorded."""

from collections.abc import Sequence
from typing import Any

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, read_request_header, read_response_header
from kafka_shim.protocol.responses import NAMING_APIS, topic_ids_with_names
from kafka_shim.shim.request.access import AccessRecord
from kafka_shim.shim.request.session import Session
from kafka_shim.text.logs import Log
from kafka_shim.traces.connection_observer import TrafficObserver
from kafka_shim.traces.identities.message_fields import UNKNOWN_TOPIC, topic_partitions
from kafka_shim.traces.record_masks import RecordMasks

log = Log("shim.playback")

_CONSUMING_APIS = frozenset({ApiKey.FETCH, ApiKey.SHARE_FETCH})


class MaskingObserver:
    """Passes everything on to another observer, records with their masks.

    Records that cannot be masked, such as those in batches before version 2, are left out.
    """

    def __init__(self, observer: TrafficObserver, masks: RecordMasks) -> None:
        self._observer = observer
        self._masks = masks
        self._topic_names: dict[bytes, str] = {}
        self.flush_events = observer.flush_events
        self.record_close = observer.record_close
        self.close = observer.close

    def record_request(self, session: Session, header: RequestHeader, frame: bytes) -> int:
        if header.api_key == ApiKey.PRODUCE:
            frame = self._masked_request(header, frame)
        return self._observer.record_request(session, header, frame)

    def record_outcome(
        self,
        session: Session,
        sequence: int,
        header: RequestHeader,
        decided: Sequence[AccessRecord],
        frame: bytes | None,
    ) -> None:
        if frame is not None and (
            header.api_key in _CONSUMING_APIS or header.api_key in NAMING_APIS
        ):
            frame = self._masked_response(header, frame)
        self._observer.record_outcome(session, sequence, header, decided, frame)

    def _masked_request(self, header: RequestHeader, frame: bytes) -> bytes:
        try:
            _, at = read_request_header(frame)
            message = codecs.read_request(header.api_key, header.api_version, frame, at)
        except ProtocolError:
            return frame[:8]
        self._mask(message)
        return frame[:at] + codecs.write_request(message, header.api_version)

    def _masked_response(self, header: RequestHeader, frame: bytes) -> bytes:
        key, version = header.api_key, header.api_version
        try:
            _, at = read_response_header(key, version, frame)
            message = codecs.read_response(key, version, frame, at)
        except ProtocolError:
            return frame[:4]
        if key in NAMING_APIS:
            self._topic_names.update(topic_ids_with_names(message))
            return frame
        self._mask(message)
        return frame[:at] + codecs.write_response(key, version, message)

    def _mask(self, message: Any) -> None:
        for topic, _, row in topic_partitions(message, self._topic_names):
            known_topic = None if topic == UNKNOWN_TOPIC else topic
            try:
                row.records = self._masks.masked_batches(known_topic, row.records)
            except ProtocolError as error:
                log.warning("records that cannot be masked are left out", reason=str(error))
                row.records = b""
