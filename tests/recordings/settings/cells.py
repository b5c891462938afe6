"""Values to try for each setting, derived from the project's table of settings."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from kafka_shim.shim.state.settings.config_definitions import ConfigDefinition

SET, DELETE, APPEND, SUBTRACT = range(4)
SIGNS: Final = {SET: "=", DELETE: "", APPEND: "+", SUBTRACT: "-"}
NUMBERS: Final = frozenset({"short", "int", "long", "double"})
_INT_MAX, _LONG_MAX = (1 << 31) - 1, (1 << 63) - 1
_WHOLE: Final = ("-2", "-1", "0", "1", "2", "100", "1.5", " 7 ", "1e3", str(_INT_MAX))
_LARGE: Final = (str(_INT_MAX + 1), str(_LONG_MAX), str(_LONG_MAX + 1))
_TEXTS: Final = ("a", "a,b", "PLAINTEXT://127.0.0.1:1", "PLAINTEXT", "1:1,2:2", "127.0.0.1:5")
_BY_PREFIX: Final = {
    "ssl.": ("JKS", "PEM", "/not/here.jks", "TLSv1.3", "TLSv1.2,TLSv1.3", "required"),
    "sasl.": ("PLAIN", "PLAIN,SCRAM-SHA-256", "GSSAPI", "DEFAULT"),
    "listener": ("PLAINTEXT:PLAINTEXT", "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT"),
    "share.auto": ("by_duration:PT1H", "by_duration:1h", "by_duration:", "latest", "none"),
    "metrics": ("org.apache.kafka.common.metrics.JmxReporter", "no.such.Class"),
    "match": ("client_id=a", "client_id=[", "a=b", "client_id=a,client_id=b"),
}


class Cell(NamedTuple):
    """A change of one setting."""

    operation: int
    value: str | None

    @property
    def label(self) -> str:
        return f"{SIGNS[self.operation]} {self.value}" if self.value is not None else "delete"


def cells(name: str, definition: ConfigDefinition, *, is_fixed: bool) -> list[Cell]:
    """Return the changes to try; only one for a setting that cannot be changed."""
    if is_fixed:
        return [Cell(SET, definition.default or "1")]
    tried = [Cell(SET, value) for value in dict.fromkeys(_values(name, definition))]
    for value in ("", "a", *_elements(definition)[:1]) if definition.type == "list" else ("1",):
        tried += [Cell(APPEND, value), Cell(SUBTRACT, value)]
    return [*tried, Cell(DELETE, None)]


def unknown() -> Mapping[str, list[Cell]]:
    """Return changes of settings that are unknown to Kafka."""
    tried = [Cell(operation, "1") for operation in (SET, APPEND, SUBTRACT)]
    return {
        name: [*tried, Cell(DELETE, None)]
        for name in ("no.such.setting", "listener.name.plaintext.no.such", "")
    }


def _values(name: str, definition: ConfigDefinition) -> Iterable[str]:
    yield from ("", "x")
    if definition.default is not None:
        yield definition.default
    if definition.type in NUMBERS:
        yield from _numbers(definition)
    elif definition.type == "boolean":
        yield from ("true", "FALSE", "yes", "0")
    else:
        yield from _texts(name, definition)


def _numbers(definition: ConfigDefinition) -> Iterable[str]:
    yield from _WHOLE
    yield from _LARGE
    for bound in (definition.check.min, definition.check.max):
        if bound is not None and abs(bound) < _INT_MAX:
            for step in (-1, 0, 1):
                yield f"{bound + step:g}"
    default = definition.default or ""
    if definition.type != "double" and default.lstrip("-").isdigit() and int(default) < _INT_MAX:
        number = int(default)
        yield from (str(number // 2), str(number // 2 - 1), str(number * 2), str(number * 2 + 1))


def _texts(name: str, definition: ConfigDefinition) -> Iterable[str]:
    yield from _TEXTS
    known = _elements(definition)
    for element in known:
        yield from (element, element.upper())
    if known:
        yield from (f"{known[0]},{known[0]}", f"{known[0]},x", f" {known[0]} ", ",".join(known))
    if definition.check.is_release:
        yield from ("3.0", "2.8-IV1", "9.9")
    for prefix, values in _BY_PREFIX.items():
        if name.startswith(prefix):
            yield from values
    yield from (",", "a,a", "a,")


def _elements(definition: ConfigDefinition) -> tuple[str, ...]:
    return definition.check.one_of or definition.check.each_of
