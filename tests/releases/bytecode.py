"""Reads the calls of request handlers from bytecode, to find those that a release changed."""

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from tests.authorizer.record_asked_by_brokers import CLASSES

Calls = tuple[str, ...]

_METHOD = re.compile(r"  \S.*?([\w$]+)\(.*\)")
_CALL = re.compile(
    r"\s+\d+: invoke\w+ .*Method (?:((?:org/apache/)?kafka/\S*?)\.)?([\w$]+):\(|"
    r"\s+\d+: getstatic .*Field (?:\S+/)?()(Errors\.\w+):"
)
"""A call of a method of Kafka (without owner in the same class), or an error code."""

_PLUMBING = re.compile(
    r"\w*auth(?:Helper|oriz\w*)|unauthorized|\w+ByAuthorized|\w*\$default\$\d+|\w+_|\w+Nanos|"
    r"apiThrottleTimeMs|sendResponse\w*|requestHelper|metadataCache|context|header|data|register"
)
"""Calls to ignore: authorization checks, which are compared elsewhere, and getters."""


def methods(core: Path) -> dict[str, Calls]:
    """Return the calls of each method of the classes that handle requests, in order."""
    found: dict[str, Calls] = {}
    for name in CLASSES:
        words = ["javap", "-p", "-c", "-cp", f"{core}:{core.parent}/*", name]
        listing = subprocess.run(words, capture_output=True, text=True, check=False).stdout
        told = calls_of(listing.splitlines())
        found |= {f"{name.rpartition('.')[2]}.{method}": calls for method, calls in told.items()}
    return found


def calls_of(listing: Iterable[str]) -> dict[str, Calls]:
    """Return the calls and error codes of each method in javap's listing.

    Those of a lambda belong to the method around it.
    """
    bodies: dict[str, list[list[str]]] = {}
    method = ""
    for line in listing:
        if opening := _METHOD.match(line):
            method = owner(opening[1])
            bodies.setdefault(method, []).append([])
        elif method and (found := _CALL.match(line)):
            name = owner(found[2] or found[4])
            if name != method and not _PLUMBING.fullmatch(name):
                bodies[method][-1].append(name)
    return {
        name: tuple(call for calls in sorted(parts) for call in calls)
        for name, parts in bodies.items()
        if not name.startswith("deserialize")
    }


def owner(method: str) -> str:
    """Return the method that a lambda or a local function was written in."""
    plain = re.sub(r"^(?:\$anonfun|lambda)?\$", "", method)
    return plain.partition("$")[0]
