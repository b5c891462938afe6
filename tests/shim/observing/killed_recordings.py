"""Record traces in child processes, and kill each of them (SIGKILL) after a random time.

python -m tests.shim.observing.killed_recordings FOLDER COUNT SEED
"""

import itertools
import os
import random
import signal
import sys
import time
from pathlib import Path

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.observing.trace_recorder import TraceRecorder
from kafka_shim.shim.request.session import Session
from kafka_shim.trace_format.segments import TraceStorage
from tests.shim.play import LISTENER
from tests.support.acl_filters import ANY_ACL


def record(folder: Path, compression: str, told: int) -> None:
    """Record requests until killed; after each block write the number of requests to `told`."""
    keeping = TraceStorage(compression, segment_bytes=50_000)
    recorder = TraceRecorder(folder, ManualClock(), storage=keeping)
    session = Session(LISTENER, 1, "127.0.0.1", 50_000)
    for number in itertools.count(1):
        header = RequestHeader(ApiKey.DESCRIBE_ACLS, 3, number, "x" * (number % 200))
        frame = write_request_header(header) + codecs.write_request(ANY_ACL, 3)
        recorder.record_request(session, header, frame)
        if number % 25 == 0:
            recorder.flush()
            os.pwrite(told, number.to_bytes(8, "big"), 0)


def main() -> None:
    root, count, seed = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    moments = random.Random(seed)
    for number in range(count):
        folder = root / f"{number:03d}"
        told = os.open(root / f"{number:03d}.told", os.O_RDWR | os.O_CREAT)
        child = os.fork()
        if child == 0:
            record(folder, ("none", "zlib")[number % 2], told)
        while number % 4 and not os.pread(told, 8, 0):  # wait for the first block of most traces
            time.sleep(0.001)
        time.sleep(moments.uniform(0.002, 0.08))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(told)


if __name__ == "__main__":
    main()
