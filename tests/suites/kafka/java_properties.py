"""Reads and writes Java properties, which the harness and the hosts of brokers exchange."""

import re
from collections.abc import Mapping

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_SIGNS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f"}
_PAIR = re.compile(r"((?:\\.|[^\\=:])*)[=:](.*)", re.DOTALL)


def read(text: str) -> dict[str, str]:
    """Read text in the format of Java's `Properties.store`."""
    found = {}
    for line in text.splitlines():
        pair = _PAIR.fullmatch(line)
        if pair and not line.startswith("#"):
            found[_plain(pair[1])] = _plain(pair[2])
    return found


def write(properties: Mapping[str, str]) -> str:
    return "".join(f"{_escaped(key)}={_escaped(value)}\n" for key, value in properties.items())


def _plain(text: str) -> str:
    return _ESCAPE.sub(_unescaped, text)


def _unescaped(match: re.Match[str]) -> str:
    sign = match[1]
    return chr(int(sign[1:], 16)) if len(sign) == 5 else _SIGNS.get(sign, sign)


def _escaped(text: str) -> str:
    text = re.sub(r"([\\=:#! ])", r"\\\1", text)
    for letter, sign in _SIGNS.items():
        text = text.replace(sign, f"\\{letter}")
    return text
