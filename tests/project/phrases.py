"""Find phrases that readers did not understand: `python -m tests.project.phrases`.

`make lint` runs it over pages, code and examples, but not over tests, which may quote them.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Final

from tests.docs.shown import ROOT

INSTEAD: Final = {
    r"that there (is|are) not\b": "unknown, missing",
    r"\b(is|are|was) of no use\b": "requires, cannot be used",
    r"\bwhat is no\b": "an invalid",
    r"(?<!there )\bis no (trace|api)\b": "is not a, unknown",
    r"\b(mistakes?|brokers?|answers?|settings?|faults?) of ours\b": "internal error, the shim's",
    r"\bwhom(so)?ever\b": "all, any",
    r"\bas far as there (is|are)\b": "where possible",
    r"\bnobody asks for\b": "unknown, unsupported",
    r"\bis no traceback\b": "prints no traceback",
    r"\bmay log in\b": "can log in",
    r"\bnobody looks at any more\b": "becomes stale",
    r"\bthere is no api\b": "unknown API",
    r"\bis somebody's\b": "belongs to",
    r"\bgoes before it\b": "takes precedence",
    r"\bwhoever\b": "all, any, the client that",
    r"\bcomes again\b": "is repeated, retries",
    r"\bin mid-stream\b": "during, after",
    r"\btells its (caller|user)\b": "reports to its caller",
    r"\bonce (granted|the right)\b": "after the permission is granted",
    r"\bof use here\b": "unsupported",
    r"\bnot known here\b": "unknown",
    r"\bwrong usage\b": "usage error",
    r"\bsay (where|into which)\b": "requires, is missing",
    r"\bis no (driver|report|path|pattern|json|number|object)\b": "is not a",
    r"\bthere is nobody to\b": "nobody can",
    r"\bmust be like\b": "expected",
    r"\b(cannot|could not) say\b": "cannot express",
    r"\bwhat it lacks\b": "the missing permission",
    r"\bmakes? no sense\b": "is invalid, cannot be combined",
    r"\bhung? up on\b": "disconnected",
    r"\bthe last word on\b": "the last entry counts",
}
_PHRASES: Final = [(re.compile(phrase, re.IGNORECASE), text) for phrase, text in INSTEAD.items()]
PLACES: Final = (
    "*.md", "src/kafka_shim", "examples", "benchmarks", "conformance/drivers", "Makefile",
    ":!src/kafka_shim/protocol/messages", ":!src/kafka_shim/schemas/kafka",
)  # fmt: skip


def found(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield each phrase in a text: its line, the phrase, and what to write instead."""
    for number, line in enumerate(text.splitlines(), 1):
        for phrase, instead in _PHRASES:
            if there := phrase.search(line):
                yield number, there[0], instead


def main() -> int:
    listed = subprocess.run(
        ["git", "ls-files", *PLACES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    count = 0
    for name in listed.stdout.split():
        path = ROOT / name
        if path.is_symlink() or path.suffix in (".png", ".svg", ".jar"):
            continue
        for number, phrase, instead in found(path.read_text(errors="replace")):
            count += 1
            sys.stdout.write(f"{name}:{number}: `{phrase}`; better: {instead}\n")
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
