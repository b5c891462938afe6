"""Record how Java writes doubles, and compare ours: `python -m tests.oracle.doubles 1000000`.

Compares that many random doubles, then records a few thousand in
tests/shim/state/doubles_recorded.txt.gz. Needs Java 17.
"""

import gzip
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from kafka_shim.shim.state.settings.config_values import java_double

PROGRAM = Path(__file__).parent / "java" / "Doubles.java"
RECORDED = Path(__file__).parents[1] / "shim" / "state" / "doubles_recorded.txt.gz"
RECORDED_COUNT = 6000


def main(count: int) -> None:
    source = random.Random("doubles")
    values = [_random_bits(source) for _ in range(count)]
    with tempfile.TemporaryDirectory() as classes:
        subprocess.run(["javac", "-d", classes, str(PROGRAM)], check=True)
        done = subprocess.run(
            ["java", "-cp", classes, "Doubles"],
            input="\n".join(values),
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    pairs = list(zip(values, done.stdout.split(), strict=True))
    unlike = [pair for pair in pairs if java_double(of_bits(pair[0])) != pair[1]]
    sys.stdout.write(f"{len(unlike)} of {count} differ {unlike[:5]}\n")
    # values that Python writes in another form
    odd = [pair for pair in pairs if repr(float(pair[1])) != pair[1]]
    lines = "".join(f"{bits} {text}\n" for bits, text in odd[:RECORDED_COUNT])
    RECORDED.write_bytes(gzip.compress(lines.encode(), mtime=0))


def of_bits(bits: str) -> float:
    (value,) = struct.unpack(">d", bytes.fromhex(bits.zfill(16)))
    return float(value)


def _random_bits(source: random.Random) -> str:
    """Return the bits of a double of one of several kinds, in hexadecimal."""
    value = source.choice(
        (
            float(
                f"{source.randrange(1, 10 ** source.randrange(1, 18))}e{source.randrange(-30, 25)}"
            ),
            2.0 ** source.randrange(-1074, 1024),
            source.random(),
            float(source.getrandbits(source.randrange(1, 66))),
            source.getrandbits(source.randrange(1, 30)) * 2.0 ** -source.randrange(0, 60),
            source.randrange(1, 1000) * 10.0 ** source.randrange(-323, 306),
            of_bits(f"{source.getrandbits(source.randrange(1, 53)):x}"),
            of_bits(f"{source.getrandbits(64):x}"),
        )
    )
    return struct.pack(">d", value).hex()


if __name__ == "__main__":
    main(int(sys.argv[1]))
