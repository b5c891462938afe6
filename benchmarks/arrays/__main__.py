"""Processor time of requests with very long arrays, for each array of each API.

    python -m benchmarks.arrays [--kib N] [--release R] [--api NAME] [--check] [--json]

Each array is filled with different and with equal elements. A super user and a user without rights
send the request, at a quarter of the size and at the full size; processing is linear if the time
per byte is the same.
"""

import gc
import logging
import sys
import time
from typing import NamedTuple

from benchmarks.arrays.cluster import USERS, advertised, new_cluster, session_of
from benchmarks.arrays.messages import Case, cases
from benchmarks.command import finish, parse_arguments
from kafka_shim.cli.progress_bar import ProgressBar
from kafka_shim.shim.dispatching.dispatcher import Dispatcher
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.request.session import Session

KIB = 1024
RATIO_MAX = 2.0
NOISE_S = 0.02


class Figure(NamedTuple):
    """Microseconds per byte of a request of the full size, and the ratio to a quarter of it."""

    name: str
    frame_bytes: int
    seconds: float
    us_a_byte: float
    ratio: float


def asked(case: Case, elements: int, release: str) -> dict[str, float]:
    """Return processor seconds for a request of each user.

    The user without permissions is first, since it does not change the cluster.
    """
    frame = case.frame(elements)
    dispatcher, _ = new_cluster(case, USERS[0], elements, release)
    return {user: _seconds(case, dispatcher, frame, session_of(user)) for user in reversed(USERS)}


def _seconds(case: Case, dispatcher: Dispatcher, frame: bytes, session: Session) -> float:
    gc.collect()
    began = time.process_time()
    try:
        dispatcher.dispatch(frame, session)
    except CloseConnection as closing:
        if "unreadable" in closing.reason:
            raise ValueError(f"{case.name}: {closing.reason}") from closing
    return time.process_time() - began


def measure(kib: int, release: str, name: str) -> list[Figure]:
    """Return the figures of the API with this name, or of all APIs."""
    logging.getLogger().setLevel(logging.ERROR)
    asking = [
        case
        for api, (_, version) in sorted(advertised(release).items())
        if name in ("", api.wire_name)
        for case in cases(api, version)
    ]
    found = []
    with ProgressBar("asking", len(asking)) as progress:
        for number, case in enumerate(asking):
            progress(number)
            found += _figures(case, kib, release)
    return sorted(found, key=lambda figure: -figure.us_a_byte)


def _figures(case: Case, kib: int, release: str) -> list[Figure]:
    short = asked(case, case.elements(kib * 256), release)
    long = asked(case, case.elements(kib * 1024), release)
    return [_figure(case, user, kib, short[user], long[user]) for user in USERS]


def _figure(case: Case, user: str, kib: int, short: float, long: float) -> Figure:
    each = long / (kib * 1024)
    ratio = each / (short / (kib * 256)) if long > NOISE_S else 1.0
    what = f"{case.name}, {user.partition(':')[2]}"
    return Figure(what, kib * 1024, long, each * 1e6, ratio)


def main() -> int:
    options = parse_arguments(
        __doc__,
        kib=(KIB, "size of the largest request"),
        release=("", "release of the broker (default: the newest)"),
        api=("", "the only API to measure, e.g. Metadata (default: all)"),
    )
    figures = measure(options.kib, options.release, options.api)
    missed = [
        f"{figure.name}: a byte costs x{figure.ratio:.1f} in a request four times as large"
        for figure in figures
        if figure.ratio > RATIO_MAX
    ]
    lines = [
        f"{figure.seconds * 1000:9.1f} ms {figure.us_a_byte:9.3f} us a byte"
        f" x{figure.ratio:4.2f}  {figure.name}"
        for figure in figures
    ]
    return finish(options, {f.name: f._asdict() for f in figures}, "\n".join(lines), missed)


if __name__ == "__main__":
    sys.exit(main())
