"""Sends the requests of a recording to a target, in the recorded order, and compares the answers.

A request is sent once every answer that the recorded client, or any other, had got before it has
come from the target too: so causes stay before effects, whatever the speed. Requests that follow
one another on one connection go out together, as the target answers them in their order anyway.
"""

import time
from collections.abc import Mapping

import msgspec

from protocol import codecs
from protocol.enums import ApiKey
from protocol.errors import ProtocolError
from protocol.headers import (
    RequestHeader,
    read_request_header,
    write_request_header,
)
from protocol.trace.entries import Closed, Request, Response
from protocol.trace.redaction import BLANK
from shim.client_config import Login
from shim.replay.answers import error_code, is_put_off
from shim.replay.compare import Difference, compare
from shim.replay.events import Event, Line, Recording
from shim.replay.fields import COORDINATED
from shim.replay.ids import Ids, id_kinds, names_ids
from shim.replay.link import WINDOW_BYTES, Link, Sent
from shim.replay.peer import GoneError, Peer
from shim.replay.report import Place, Report, place_of

WRONG_PASSWORD = Login("PLAIN", "kafka-shim-replay", "a password that nobody has")
"""For a log-in that was refused: whose it was, and its password, no trace tells."""

RETRY_S = 0.1
"""Before a target that is not ready yet is asked again."""

_SASL = frozenset({ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE})
_SECRET = frozenset(
    {
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        ApiKey.RENEW_DELEGATION_TOKEN,
        ApiKey.EXPIRE_DELEGATION_TOKEN,
    }
)


class MissError(Exception):
    """Something cannot be replayed, and it was asked to stop then."""


class Target(msgspec.Struct, frozen=True):
    """Where to, and how. `routes` are addresses for recorded listeners and broker ids, `address` is
    for all others.

    `speed` None is as fast as it goes. `logs_in` False leaves the recorded log-ins out, for a
    target that has none.
    """

    address: tuple[str, int]
    routes: Mapping[str, tuple[str, int]] = {}
    users: Mapping[str, str] = {}
    speed: float | None = None
    timeout_s: float = 15.0
    stops_on_miss: bool = True
    logs_in: bool = True
    ignored: frozenset[str] = frozenset()


class Player:
    """One replay."""

    def __init__(self, recording: Recording, target: Target) -> None:
        self._recording = recording
        self._target = target
        self._principals = recording.principals()
        self._answers = recording.answers()
        self._links: dict[Line, Link] = {}
        self._current: Link | None = None
        self._ids = Ids()
        self.report = Report(ignored=target.ignored)

    def play(self) -> Report:
        """Replay everything; MissError at the first miss if the target is set so."""
        began = time.monotonic()
        events = self._recording.events
        first_us = events[0].entry.time_us if events else 0
        speed = self._target.speed
        try:
            for event in events:
                if speed is not None:
                    due = (event.entry.time_us - first_us) / 1_000_000 / speed
                    time.sleep(max(0.0, began + due - time.monotonic()))
                self._one(event)
            if self._current is not None:
                self._settle(self._current)
        finally:
            for link in self._links.values():
                if link.peer is not None:
                    link.peer.close()
            self.report.seconds = time.monotonic() - began
        return self.report

    def _one(self, event: Event) -> None:
        link = self._links.get(event.line) or self._connect(event)
        if link is not self._current:
            if self._current is not None:
                self._settle(self._current)
            self._current = link
        match event.entry:
            case Request():
                self._request(event, event.entry, link)
            case Response():
                self._response(event, event.entry, link)
            case Closed():
                self._settle(link)
                link.give_up("the recorded client had left")

    def _connect(self, event: Event) -> Link:
        routes = self._target.routes
        by_node = routes.get(str(event.node_id), self._target.address)
        host, port = routes.get(event.listener, by_node)
        try:
            link = Link(Peer(host, port, self._target.timeout_s), "")
        except GoneError as error:
            link = Link(None, str(error))
        self._links[event.line] = link
        return link

    def _request(self, event: Event, entry: Request, link: Link) -> None:
        try:
            header, at = read_request_header(entry.frame)
        except ProtocolError as error:
            self._miss(place_of(event), str(error))
            return
        key = header.api_key
        answer = self._answers.get((event.line, entry.sequence))
        if answer is not None and is_put_off(answer):
            self.report.left_out += 1
        elif link.peer is None:
            self._miss(place_of(event), link.why_not)
        elif key in _SASL:
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
        if id_kinds(header.api_key, header.api_version, "Request"):
            if link.teaches and names_ids(frame[at:], header.api_key, header.api_version):
                self._settle(link)  # the ids may be in the answers that are due
            if self._ids.differ:
                frame = self._with_ids(event.line, header, frame, at)
        if link.is_full or len(frame) > WINDOW_BYTES:
            self._settle(link)
        link.put(frame)
        link.sent[entry.sequence] = Sent(frame, entry.frame)
        self.report.requests += 1
        if self._target.speed is not None or len(frame) > WINDOW_BYTES:
            self._flush(event, link)

    def _with_ids(self, line: Line, header: RequestHeader, frame: bytes, at: int) -> bytes:
        """The frame with the target's ids.

        As it is if it cannot be read: what the target makes of it is part of the comparison.
        """
        try:
            message = codecs.read_request(header.api_key, header.api_version, frame, at)
            if not self._ids.rewrite(line, message):
                return frame
            return write_request_header(header) + codecs.write_request(message, header.api_version)
        except ProtocolError:
            return frame

    def _log_in(
        self,
        event: Event,
        header: RequestHeader,
        entry: Request,
        at: int,
        link: Link,
    ) -> None:
        """Remember the mechanism; at the first message of the exchange, go through one of ours."""
        if not self._target.logs_in:
            return
        if header.api_key == ApiKey.SASL_HANDSHAKE:
            request = codecs.read_request(header.api_key, header.api_version, entry.frame, at)
            link.mechanism = request.mechanism
            link.login_error = None
            return
        if link.login_error is not None:
            return
        login = self._login(event, entry, link)
        if login is None:
            name = self._principals[event.line].partition(":")[2]
            self._lost(event, link, f"no password of `{name}`: --user {name}:PASSWORD")
            return
        assert link.peer is not None
        try:
            link.login_error = link.peer.log_in(login)
        except GoneError as error:
            self._lost(event, link, str(error))

    def _login(self, event: Event, entry: Request, link: Link) -> Login | None:
        answer = self._answers.get((event.line, entry.sequence))
        name = self._principals[event.line].partition(":")[2]
        if answer is not None and error_code(answer):
            return WRONG_PASSWORD
        password = self._target.users.get(name)
        return None if password is None else Login(link.mechanism, name, password)

    def _response(self, event: Event, entry: Response, link: Link) -> None:
        if entry.api_key in _SASL:
            self._compare_login(event, entry, link)
            return
        if entry.sequence not in link.sent or link.peer is None:
            return  # told when the request was missed
        link.expect(event, entry)
        paced = self._target.speed is not None
        if paced or link.is_full or entry.api_key in COORDINATED:
            self._settle(link)

    def _flush(self, event: Event, link: Link) -> None:
        try:
            link.flush()
        except GoneError as error:
            self._lost(event, link, str(error))

    def _settle(self, link: Link) -> None:
        """Send what waits to be sent, and take the answers that are due."""
        if not link.due:
            try:
                link.flush()
            except GoneError as error:
                link.give_up(f"before it: {error}")
            return
        self._flush(link.due[0][0], link)
        while link.due and link.peer is not None:
            event, entry = link.due[0]
            sent = link.sent.pop(entry.sequence)
            try:
                frame = self._answer(link, link.peer, sent.frame, entry)
            except GoneError as error:
                self._lost(event, link, str(error))
                return
            link.take()
            self.report.answers += 1
            found = compare(self._ids, event.line, sent.recorded, entry, frame)
            if found:
                self.report.differ(place_of(event), found)

    def _answer(self, link: Link, peer: Peer, request: bytes, entry: Response) -> bytes:
        """The target's answer; one that is not ready yet is asked again, as a client would."""
        deadline = time.monotonic() + self._target.timeout_s
        while True:
            frame = peer.receive()
            if not is_put_off(entry, frame) or link.sent or time.monotonic() > deadline:
                return frame
            time.sleep(RETRY_S)
            peer.send(request)

    def _compare_login(self, event: Event, entry: Response, link: Link) -> None:
        """Only whether the target takes the log-in: the messages themselves never agree."""
        actual = link.login_error
        if entry.api_key != ApiKey.SASL_AUTHENTICATE or actual is None:
            return
        recorded = error_code(entry)
        self.report.answers += 1
        if recorded != actual:
            self.report.differ(place_of(event), [Difference("error_code", recorded, actual)])

    def _lost(self, event: Event, link: Link, why: str) -> None:
        """The connection cannot be used any more; what it was still to answer is missed too."""
        lost = link.give_up(f"before it: {why}")
        for one in lost or [event]:
            self._miss(place_of(one), why if one is event else link.why_not)

    def _miss(self, place: Place, why: str) -> None:
        self.report.miss(place, why)
        if self._target.stops_on_miss:
            raise MissError(
                f"connection {place.connection}, request {place.sequence}: {place.api}"
                f" v{place.version}: {why}; --on-miss skip goes on without it"
            )
