"""Sends the requests of a recording to a target, in recorded order, and compares the responses.

A request is sent after the target has sent every response that precedes the request in the
recording. So causes precede effects at any speed. Consecutive requests of a connection are sent
together, as the target answers them in order.
"""

import time
from collections.abc import Callable, Iterator

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, read_request_header
from kafka_shim.protocol.trace.entries import Closed, Request, Response
from kafka_shim.protocol.trace.redaction import BLANK
from kafka_shim.shim.traffic.replay.acl_changes import ACL_CHANGES, Change, change_of
from kafka_shim.shim.traffic.replay.compare import Difference, compare
from kafka_shim.shim.traffic.replay.counterparts import Counterparts
from kafka_shim.shim.traffic.replay.error_codes import error_code, is_put_off
from kafka_shim.shim.traffic.replay.events import Event, Line, Recording
from kafka_shim.shim.traffic.replay.fields import COORDINATED
from kafka_shim.shim.traffic.replay.foresight import LOGIN, Foresight
from kafka_shim.shim.traffic.replay.ids import id_kinds, names_ids
from kafka_shim.shim.traffic.replay.link import Link, Sent
from kafka_shim.shim.traffic.replay.logins import NoPasswordError, log_in, login_of
from kafka_shim.shim.traffic.replay.offsets import TAKES_OFFSETS
from kafka_shim.shim.traffic.replay.pace import Pace
from kafka_shim.shim.traffic.replay.peer import WINDOW_BYTES, GoneError, Peer
from kafka_shim.shim.traffic.replay.rebalances import is_before_join
from kafka_shim.shim.traffic.replay.report import Place, Report, place_of
from kafka_shim.shim.traffic.replay.rerecording import Rerecording
from kafka_shim.shim.traffic.replay.target import MissError, OnMiss, Target

_TELL_EVENTS = 256

RETRY_S = 0.1
"""Before a target that is not ready yet is asked again."""

_SECRET = frozenset(
    {
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        ApiKey.RENEW_DELEGATION_TOKEN,
        ApiKey.EXPIRE_DELEGATION_TOKEN,
    }
)


class Player:
    """A replay."""

    def __init__(
        self, recording: Recording, target: Target, foresight: Foresight | None = None
    ) -> None:
        self._recording = recording
        self._target = target
        self._foresight = foresight or Foresight(recording.events)
        self._links: dict[Line, Link] = {}
        self._current: Link | None = None
        self._learned = Counterparts()
        self._rerecording = None if target.record is None else Rerecording(target.record)
        self.report = Report(ignored=target.ignored)

    def play(self, progress: Callable[[int], None] = lambda _: None) -> Report:
        """Replay everything; MissError at the first miss if the target is configured so.

        `progress` is regularly called with the number of replayed events.
        """
        began = time.monotonic()
        pace = Pace(self._target.speed, self._foresight.first_us)
        try:
            for number, event in enumerate(self._recording.events):
                if number % _TELL_EVENTS == 0 or self._target.speed is not None:
                    progress(number)
                pace.wait(event.entry.time_us)
                self._one(event)
            if self._current is not None:
                self._settle(self._current)
            for link in self._links.values():
                self._end(link, "the replay is over")
        finally:
            for link in self._links.values():
                link.give_up("the replay is over")
            if self._rerecording is not None:
                self._rerecording.close()
            self.report.seconds = time.monotonic() - began
        return self.report

    def _one(self, event: Event) -> None:
        known = self._links.get(event.line)
        if self._current is not None and known is not self._current:
            self._settle(self._current)
        link = self._current = known or self._connect(event)
        match event.entry:
            case Request():
                self._request(event, event.entry, link)
            case Response():
                self._response(event, event.entry, link)
            case Closed():
                self._settle(link)
                self._end(link, "the recorded client had left")
                if self._rerecording is not None:
                    self._rerecording.closed(event, event.entry.reason)

    def _connect(self, event: Event) -> Link:
        host, port = self._address(event)
        try:
            link = Link(Peer(host, port, self._target.timeout_s), "")
        except GoneError as error:
            link = Link(None, str(error))
        self._links[event.line] = link
        return link

    def _address(self, event: Event) -> tuple[str, int]:
        """Return the address from a route, else the one that the target
        advertises for this broker.
        """
        routes = self._target.routes
        named = routes.get(event.listener) or routes.get(str(event.node_id))
        return named or self._learned.address(event) or self._target.address

    def _end(self, link: Link, why: str) -> None:
        """Stop sending; outstanding responses are added to a trace of the replay."""
        if self._rerecording is not None:
            self._take_unrecorded(link)
        link.give_up(why)

    def _take_unrecorded(self, link: Link, until: int | None = None) -> None:
        """Receive responses that the recording does not have, up to `until`."""
        try:
            for sent, frame in link.unrecorded(until):
                self.report.unrecorded += 1
                if self._rerecording is not None:
                    self._rerecording.response(sent, frame)
        except GoneError as error:
            if until is not None:
                raise
            link.give_up(f"the connection failed earlier: {error}")

    def _request(self, event: Event, entry: Request, link: Link) -> None:
        try:
            header, at = read_request_header(entry.frame)
        except ProtocolError as error:
            self._miss(place_of(event), str(error))
            return
        key = header.api_key
        if (event.line, entry.sequence) in self._foresight.put_off:
            self.report.left_out += 1
        elif link.peer is None:
            self._miss(place_of(event), link.why_not)
        elif key in LOGIN:
            self._settle(link)
            self._log_in(event, header, entry, at, link)
        elif key in _SECRET or (entry.redacted and BLANK.encode() in entry.frame):
            self._miss(place_of(event), "it has secrets, which are not in a trace")
        else:
            self._send(event, header, entry, at, link)

    def _send(
        self, event: Event, header: RequestHeader, entry: Request, at: int, link: Link
    ) -> None:
        frame = entry.frame
        key, version = header.api_key, header.api_version
        takes_offsets = key in TAKES_OFFSETS
        if takes_offsets or id_kinds(key, version, "Request"):
            # due responses may contain the ids that it needs
            waits = takes_offsets and link.teaches_offsets
            has_ids = names_ids(frame[at:], key, version)
            if waits or (link.teaches and has_ids):
                self._settle(link)
            if self._learned.differs and (takes_offsets or has_ids):
                frame = self._learned.rewritten(event.line, header, frame, at)
        if len(frame) > WINDOW_BYTES:
            self._settle(link)
        elif link.is_full:
            self._settle(link, only_for_room=True)
        if link.is_clogged:
            self._settle(link)
            self._take_unrecorded(link)
        if link.peer is None:
            self._miss(place_of(event), link.why_not)
            return
        sent = Sent(event, frame, entry.frame)
        link.put(sent, entry.sequence)
        if self._rerecording is not None:
            self._rerecording.request(sent)
        self.report.requests += 1
        if self._target.speed is not None or link.is_laden:
            self._flush(event, link)

    def _log_in(
        self,
        event: Event,
        header: RequestHeader,
        entry: Request,
        at: int,
        link: Link,
    ) -> None:
        if not self._target.logs_in:
            return
        if self._rerecording is not None:
            self._rerecording.recorded(event, entry)
        response = self._foresight.logins.get((event.line, entry.sequence))
        if response is None:  # the client left before its log-in was answered
            self.report.left_out += 1
            link.give_up("its log-in was not answered in the recording")
            return
        was_refused = error_code(response) != 0
        name = self._foresight.principals[event.line].partition(":")[2]
        users = self._target.users
        try:
            log_in(
                link,
                header,
                entry.frame,
                at,
                lambda mechanism: login_of(name, mechanism, users, was_refused=was_refused),
            )
        except (GoneError, NoPasswordError) as error:
            self._lost(event, link, str(error))

    def _response(self, event: Event, entry: Response, link: Link) -> None:
        if entry.api_key in LOGIN:
            self._compare_login(event, entry, link)
            return
        if entry.sequence not in link.sent or link.peer is None:
            return  # reported when the request was missed
        link.expect(event, entry)
        is_awaited = entry.api_key in COORDINATED or entry.api_key in ACL_CHANGES
        if self._target.speed is not None or is_awaited:
            self._settle(link)
        elif link.is_full:
            self._settle(link, only_for_room=True)

    def _flush(self, event: Event, link: Link) -> None:
        try:
            link.flush()
        except GoneError as error:
            self._lost(event, link, str(error))

    def _settle(self, link: Link, *, only_for_room: bool = False) -> None:
        """Send queued requests and receive due responses; or only some, to be able to send more."""
        if not link.due:
            try:
                link.flush()
            except GoneError as error:
                link.give_up(f"the connection failed earlier: {error}")
            return
        self._flush(link.due[0][0], link)
        while link.due and link.peer is not None and not (only_for_room and link.has_room):
            event, entry = link.due[0]
            try:
                self._take_unrecorded(link, entry.sequence)
                sent = link.responded(entry.sequence)
                frame = self._take_response(link, link.peer, sent.frame, entry)
                if entry.api_key in ACL_CHANGES and not link.sent:
                    self._await_acls(event, change_of(sent.frame, frame))
            except GoneError as error:
                self._lost(event, link, str(error))
                return
            link.take()
            self.report.responses += 1
            if self._rerecording is not None:
                self._rerecording.response(sent, frame)
            found = compare(self._learned, event, sent.recorded, entry, frame)
            if found:
                self.report.differ(place_of(event), found)

    def _take_response(self, link: Link, peer: Peer, request: bytes, entry: Response) -> bytes:
        """Return the target's response; retry while it is not ready, as a client would."""
        deadline = time.monotonic() + self._target.timeout_s
        while True:
            frame = peer.receive()
            if link.sent or time.monotonic() > deadline:
                return frame
            if not is_put_off(entry, frame) and not is_before_join(
                request, entry, frame, self._unanswered()
            ):
                return frame
            time.sleep(RETRY_S)
            peer.send(request)

    def _unanswered(self) -> Iterator[bytes]:
        for link in self._links.values():
            yield from (sent.frame for sent in link.sent.values())

    def _await_acls(self, event: Event, change: Change | None) -> None:
        """Wait until the brokers with connections of this user have applied a change of ACLs."""
        if change is None:
            return
        principals = self._foresight.principals
        peers = {
            link.peer.address: link.peer
            for line, link in self._links.items()
            if link.peer is not None
            and not link.sent
            and principals[line] == principals[event.line]
        }
        change.wait(peers.values(), self._target.timeout_s)

    def _compare_login(self, event: Event, entry: Response, link: Link) -> None:
        """Compare only the error code of a log-in; its messages always differ."""
        actual = link.login_error
        if self._rerecording is not None and self._target.logs_in:
            self._rerecording.recorded(event, entry)
        if entry.api_key != ApiKey.SASL_AUTHENTICATE or actual is None:
            return
        recorded = error_code(entry)
        self.report.responses += 1
        if recorded != actual:
            self.report.differ(place_of(event), [Difference("error_code", recorded, actual)])

    def _lost(self, event: Event, link: Link, why: str) -> None:
        """Give up a connection; its outstanding responses are missed too."""
        lost = link.give_up(f"the connection failed earlier: {why}")
        for missed in lost or [event]:
            self._miss(place_of(missed), why if missed is event else link.why_not)

    def _miss(self, place: Place, why: str) -> None:
        self.report.miss(place, why)
        if self._target.on_miss is OnMiss.FAIL:
            raise MissError(
                f"connection {place.connection}, request {place.sequence}: {place.api}"
                f" v{place.version}: {why}; --on-miss skip continues without it"
            )
