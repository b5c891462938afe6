"""Sends frames to a cluster and checks its reaction to each of them."""

import ctypes
import gc
import hashlib
import logging
import resource
import traceback
from collections.abc import Iterator
from pathlib import Path

import msgspec

from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import read_request_header
from kafka_shim.shim.dispatching.dispatcher import PendingExchange
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.request.session import AuthenticationPhase, Session
from kafka_shim.shim.wait import NoResponse
from tests.fuzz.frames import CORRELATION_ID, USERS, Frames, stage_of
from tests.fuzz.probe import Probe
from tests.shim.play import SASL_LISTENER, Stage

FOUND = Path(__file__).parent / "found"
LONG_S = 0.25
"""Processor time that a request may take."""
GROWN_BYTES_MAX = 64 * 1024 * 1024
"""By how much the memory may grow."""
FRAMES_OF_A_CLUSTER = 2000
"""Frames sent to one cluster; a new one follows, since topics that clients made are no leak."""


class Failure(msgspec.Struct, frozen=True):
    """A frame with an invalid response, or one that made the broker fail."""

    release: str
    authorizer: str
    user: str
    frame: bytes
    why: str

    def save(self, folder: Path = FOUND) -> Path:
        """Write the frame to a file in `folder`; a test replays all frames in found/."""
        folder.mkdir(exist_ok=True)
        digest = hashlib.sha256(self.frame).hexdigest()[:12]
        who = self.user.rpartition(":")[2]
        path = folder / f"{self.release}_{self.authorizer}_{who}_{digest}.frame"
        path.write_bytes(self.frame)
        return path


class Slow(msgspec.Struct, frozen=True):
    """A frame whose handling took longer than LONG_S."""

    seconds: float
    release: str
    api: str
    frame_bytes: int


class Report(msgspec.Struct):
    """The result of a run.

    `grown_bytes` is the growth of the process since the first cluster of each release; None if no
    release had a second cluster.
    """

    frames: int = 0
    responded: int = 0
    closed: int = 0
    failures: list[Failure] = []
    slow: list[Slow] = []
    grown_bytes: int | None = None
    longest_s: float = 0
    """Processor time of the longest request."""

    @property
    def is_clean(self) -> bool:
        return not self.failures and not self.slow and (self.grown_bytes or 0) < GROWN_BYTES_MAX

    def lines(self) -> Iterator[str]:
        if self.grown_bytes is None:
            memory = "memory not compared, as there were too few frames"
        else:
            memory = f"{self.grown_bytes >> 20} MiB more memory"
        yield (
            f"{self.frames} frames: {self.responded} answered, {self.closed} closed,"
            f" {len(self.failures)} failures; {memory};"
            f" longest {self.longest_s * 1000:.0f} ms"
        )
        if self.slow:
            yield f"{len(self.slow)} took more than {LONG_S * 1000:.0f} ms; the worst:"
        for slow in sorted(self.slow, key=lambda slow: -slow.seconds)[:5]:
            size = f"{slow.frame_bytes} bytes"
            yield f"  {slow.seconds * 1000:.0f} ms  {slow.api}, {size}, release {slow.release}"


class _Errors(logging.Handler):
    """Counts logged errors: each is a traceback or an internal error of the broker."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.seen = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.seen += 1


def judge(
    stage: Stage, frame: bytes, session: Session, probe: Probe | None = None
) -> tuple[str, str]:
    """Send a frame; return `answered` or `closed`, and the error, empty if there is none."""
    try:
        response = (probe or Probe()).dispatch(stage.dispatcher, frame, session)
        if isinstance(response, PendingExchange):
            return _waited(stage, response)
    except CloseConnection:
        return "closed", ""
    except Exception:  # noqa: BLE001 - any exception of a handler is a finding
        return "closed", traceback.format_exc()
    if isinstance(response, NoResponse):
        return "responded", ""
    return "responded", _wrong(response)


def _waited(stage: Stage, pending: PendingExchange) -> tuple[str, str]:
    """Wait a minute of the cluster's clock for the response; then disconnect."""
    got: list[bytes] = []
    pending.wait.set_response_callback(lambda response: got.append(pending.finish(response)))
    stage.clock.advance(60_000)
    if not got:
        pending.wait.cancel()
        return "closed", ""
    return "responded", _wrong(got[0])


def _wrong(response: bytes) -> str:
    if int.from_bytes(response[:4], "big") != len(response) - 4:
        return "the response does not have the size in its first four bytes"
    if int.from_bytes(response[4:8], "big", signed=True) != CORRELATION_ID:
        return "the response has another correlation id"
    return ""


def session_of(user: str, *, is_ready: bool = True) -> Session:
    session = Session(SASL_LISTENER, 1, "127.0.0.1", 50_000)
    session.principal = user
    session.phase = AuthenticationPhase.READY if is_ready else AuthenticationPhase.HANDSHAKE
    return session


def replay(path: Path) -> str:
    """Play a stored frame; return what is wrong with the response, if anything."""
    release, authorizer, who, _ = path.stem.split("_")
    stage = stage_of(release, authorizer=authorizer)
    return judge(stage, path.read_bytes(), session_of(f"User:{who}"))[1]


def fuzz(seed: object, releases: list[str], frames: int) -> Report:
    """Play this number of frames, on releases with and without an authorizer."""
    report = Report()
    errors = _Errors()
    root = logging.getLogger()
    root.addHandler(errors)
    response_start_bytes = 0
    try:
        for turn, first in enumerate(range(0, frames, FRAMES_OF_A_CLUSTER)):
            release = releases[turn % len(releases)]
            authorizer = ("standard", "none")[turn // len(releases) % 2]
            count = min(FRAMES_OF_A_CLUSTER, frames - first)
            _play(report, errors, (seed, release, authorizer), range(first, first + count))
            gc.collect()
            gc.freeze()  # as a broker does when it starts; the fuzzer alone loads message specs
            if turn < len(releases):  # the codecs of each release are compiled once
                response_start_bytes = _resident_bytes()
            else:
                report.grown_bytes = max(
                    report.grown_bytes or 0, _resident_bytes() - response_start_bytes
                )
    finally:
        root.removeHandler(errors)
        gc.unfreeze()
    return report


def _play(report: Report, errors: _Errors, how: tuple[object, str, str], numbers: range) -> None:
    seed, release, authorizer = how
    stage = stage_of(release, authorizer=authorizer)
    probe = Probe()
    made = Frames(f"{seed} {release}", stage.dispatcher.apis.advertised)
    for number in numbers:
        ids = [*[topic.topic_id for topic in stage.cluster.topics][:50], b"\x01" * 16, bytes(16)]
        frame = made.frame(number, ids)
        user = USERS[number % len(USERS)]
        seen = errors.seen
        outcome, why = judge(stage, frame, session_of(user, is_ready=number % 50 != 0), probe)
        report.frames += 1
        report.responded += outcome == "responded"
        report.closed += outcome == "closed"
        if not why and errors.seen > seen:
            why = "an error was logged"
        if why:
            report.failures.append(Failure(release, authorizer, user, frame, why))
        report.longest_s = max(report.longest_s, probe.seconds)
        if probe.seconds > LONG_S:
            report.slow.append(Slow(probe.seconds, release, _api(frame), len(frame)))


def _api(frame: bytes) -> str:
    try:
        header, _ = read_request_header(frame)
    except ProtocolError:
        return "no request"
    return f"API {header.api_key} version {header.api_version}"


def _resident_bytes() -> int:
    """Return the memory of this process, or its peak where the system reports no more.

    What glibc keeps after it was freed is given back first: it is no leak.
    """
    statm = Path("/proc/self/statm")
    if statm.exists():
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
        return int(statm.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
