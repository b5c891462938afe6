"""Sends frames to a cluster and judges the reaction to each."""

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
from kafka_shim.shim.dispatch import Pending
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.request.garbage import set_aside
from kafka_shim.shim.request.session import Phase, Session
from kafka_shim.shim.wait import NoAnswer
from tests.fuzz.frames import CORRELATION_ID, USERS, Frames, stage_of
from tests.fuzz.probe import Probe
from tests.shim.play import SASL_LISTENER, Stage

FOUND = Path(__file__).parent / "found"
TURN_S = 0.05
"""Processor time that one turn may take."""
FRAMES_OF_A_CLUSTER = 2000
"""Then a new one begins: what clients may make, such as topics, is no leak."""


class Failure(msgspec.Struct, frozen=True):
    """A frame that was not answered as it must be."""

    release: str
    authorizer: str
    user: str
    frame: bytes
    why: str

    def save(self, folder: Path = FOUND) -> Path:
        """Keep the frame: a test plays all that are there."""
        folder.mkdir(exist_ok=True)
        digest = hashlib.sha256(self.frame).hexdigest()[:12]
        who = self.user.rpartition(":")[2]
        path = folder / f"{self.release}_{self.authorizer}_{who}_{digest}.frame"
        path.write_bytes(self.frame)
        return path


class Slow(msgspec.Struct, frozen=True):
    """A frame of which a turn took long."""

    seconds: float
    release: str
    api: str
    frame_bytes: int


class Report(msgspec.Struct):
    """What came of a run; memory is what the process grew by since its first clusters, None if each
    release had one cluster at most.
    """

    frames: int = 0
    answered: int = 0
    closed: int = 0
    failures: list[Failure] = []
    slow: list[Slow] = []
    grown_bytes: int | None = None
    longest_s: float = 0
    """Processor time of the longest turn."""

    def lines(self) -> Iterator[str]:
        if self.grown_bytes is None:
            memory = "memory not compared, as there were too few frames"
        else:
            memory = f"{self.grown_bytes >> 20} MiB more memory"
        yield (
            f"{self.frames} frames: {self.answered} answered, {self.closed} closed,"
            f" {len(self.failures)} failures; {memory};"
            f" longest turn {self.longest_s * 1000:.0f} ms"
        )
        if self.slow:
            yield f"{len(self.slow)} had a turn of more than {TURN_S * 1000:.0f} ms; the worst:"
        for slow in sorted(self.slow, key=lambda slow: -slow.seconds)[:5]:
            size = f"{slow.frame_bytes} bytes"
            yield f"  {slow.seconds * 1000:.0f} ms  {slow.api}, {size}, release {slow.release}"


class _Errors(logging.Handler):
    """Counts lines of errors: each would be a traceback, or a bug that was noticed."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.seen = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.seen += 1


def judge(
    stage: Stage, frame: bytes, session: Session, probe: Probe | None = None
) -> tuple[str, str]:
    """What became of a frame, `answered` or `closed`, and what is wrong with that, if anything."""
    try:
        answer = (probe or Probe()).dispatch(stage.dispatcher, frame, session)
        if isinstance(answer, Pending):
            return _waited(stage, answer)
    except CloseConnection:
        return "closed", ""
    except Exception:  # noqa: BLE001 - whatever it is, it is what is looked for
        return "closed", traceback.format_exc()
    if isinstance(answer, NoAnswer):
        return "answered", ""
    return "answered", _wrong(answer)


def _waited(stage: Stage, pending: Pending) -> tuple[str, str]:
    """The answer after a while; a client that waits for longer goes away."""
    got: list[bytes] = []
    pending.wait.when_done(lambda answer: got.append(pending.frame(answer)))
    stage.clock.advance(60_000)
    if not got:
        pending.wait.cancel()
        return "closed", ""
    return "answered", _wrong(got[0])


def _wrong(answer: bytes) -> str:
    if int.from_bytes(answer[:4], "big") != len(answer) - 4:
        return "the answer does not have the size that it claims"
    if int.from_bytes(answer[4:8], "big", signed=True) != CORRELATION_ID:
        return "the answer has another correlation id"
    return ""


def session_of(user: str, *, is_ready: bool = True) -> Session:
    session = Session(SASL_LISTENER, 1, "127.0.0.1", 50_000)
    session.principal = user
    session.phase = Phase.READY if is_ready else Phase.HANDSHAKE
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
    start_bytes = 0
    try:
        for turn, first in enumerate(range(0, frames, FRAMES_OF_A_CLUSTER)):
            release = releases[turn % len(releases)]
            authorizer = ("standard", "none")[turn // len(releases) % 2]
            count = min(FRAMES_OF_A_CLUSTER, frames - first)
            _play(report, errors, (seed, release, authorizer), range(first, first + count))
            gc.collect()
            set_aside()  # as a broker does at its start; the specs of messages are the fuzzer's
            if turn < len(releases):  # the codecs of each release are compiled once
                start_bytes = _resident_bytes()
            else:
                report.grown_bytes = max(report.grown_bytes or 0, _resident_bytes() - start_bytes)
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
        report.answered += outcome == "answered"
        report.closed += outcome == "closed"
        if not why and errors.seen > seen:
            why = "an error was logged"
        if why:
            report.failures.append(Failure(release, authorizer, user, frame, why))
        report.longest_s = max(report.longest_s, probe.longest_s)
        if probe.longest_s > TURN_S:
            report.slow.append(Slow(probe.longest_s, release, _api(frame), len(frame)))


def _api(frame: bytes) -> str:
    try:
        header, _ = read_request_header(frame)
    except ProtocolError:
        return "no request"
    return f"API {header.api_key} version {header.api_version}"


def _resident_bytes() -> int:
    """The memory of this process now; where the system does not tell, the most it ever had."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
