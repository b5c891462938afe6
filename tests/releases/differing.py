"""The differences between two Kafka releases, and the decisions that they require."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from kafka_shim.schemas.facts import Definition
from kafka_shim.schemas.merge import fields_on_wire, parse_versions
from kafka_shim.schemas.releases import Fact
from tests.releases.bytecode import Calls
from tests.releases.snapshot import Snapshot

AREAS: Final = {
    "apis": "write the handler, its line in shim/apis.py, its requirements and its requests",
    "versions": "support the new version; extend requirements that name versions",
    "fields": "fill or obey the field",
    "renamed": "rename the field in handlers, tests/recordings/store.py and importers",
    "error codes": "find out which responses have it, and its order among other errors",
    "codes of ACLs": "extend ACL rules, forms of ACLs and the command line",
    "features": "find out what the level changes for clients",
    "settings": "find out how the setting affects responses; DescribeConfigs lists it already",
    "permissions": "add the change to authorizer/requirements/",
    "handlers": "read what the method does differently",
    "responses": "find the cause, and add it as a fact of the release",
}
"""Kinds of differences, and what a person must do about each of them."""


class Finding(msgspec.Struct, frozen=True):
    """A difference between two releases."""

    area: str
    subject: str
    what: str


def findings(old: Snapshot, new: Snapshot) -> list[Finding]:
    """Return what the newer release changed, in the order of AREAS."""
    return [
        *_versions(old, new),
        *_fields(old, new),
        *_codes(old, new),
        *_features(old, new),
        *_settings(old.settings, new.settings),
        *_permissions(old, new),
        *_handlers(old, new),
    ]


def _versions(old: Snapshot, new: Snapshot) -> Iterator[Finding]:
    for api, offered in new.apis.items():
        key = new.definitions[f"{api}Request"]["apiKey"]
        if api not in old.apis:
            asks = ", ".join(sorted(new.asked.get(api, ()))) or "nothing"
            yield Finding("apis", api, f"new, key {key}, versions {offered}; asks {asks}")
        elif offered != old.apis[api]:
            yield Finding("versions", api, f"{old.apis[api]} -> {offered}")
    for name in sorted(new.unstable - old.unstable):
        version = parse_versions(new.definitions[name]["validVersions"]).stop - 1
        yield Finding("versions", name.removesuffix("Request"), f"{version} is new and unstable")
    for api in old.apis.keys() - new.apis.keys():
        yield Finding("apis", api, "no longer offered")


def _fields(old: Snapshot, new: Snapshot) -> Iterator[Finding]:
    for name, definition in new.definitions.items():
        if definition["type"] in ("request", "response", "header"):
            before = old.definitions.get(name)
            if before is not None:
                yield from _fields_of(name, before, definition)


def _fields_of(name: str, before: Definition, now: Definition) -> Iterator[Finding]:
    renamed = dict(_renamed(before, now))
    for was, becomes in renamed.items():
        yield Finding("renamed", name, f"{was} is called {becomes}")
    known = set(_paths(before))
    for path, field in _paths(now).items():
        if path not in known and path not in renamed.values():
            yield Finding("fields", name, f"{path}: {field['type']}, versions {field['versions']}")
    for path in known - _paths(now).keys() - renamed.keys():
        yield Finding("fields", name, f"{path} is gone")


def _renamed(before: Definition, now: Definition) -> Iterator[tuple[str, str]]:
    """Yield (old, new) names of fields at the same place of the same version."""
    common = set(parse_versions(before["validVersions"])) & set(
        parse_versions(now["validVersions"])
    )
    found: dict[str, str] = {}
    for version in common:
        rows = [list(fields_on_wire(side, version)) for side in (before, now)]
        if [row[1:] for row in rows[0]] != [row[1:] for row in rows[1]]:
            continue
        for was, becomes in zip(*rows, strict=True):
            old_name, new_name = str(was[0]), str(becomes[0])
            if old_name.rpartition(".")[2] != new_name.rpartition(".")[2]:
                found[old_name.partition(".")[2]] = new_name.partition(".")[2]
    yield from found.items()


def _paths(definition: Definition) -> dict[str, Definition]:
    """Return every field by its path: `Topics.Partitions.Index`."""
    found: dict[str, Definition] = {}

    def walk(fields: Iterable[Definition], at: str) -> None:
        for field in fields:
            found[at + field["name"]] = field
            walk(field.get("fields", ()), f"{at}{field['name']}.")

    walk(definition["fields"], "")
    for struct in definition.get("commonStructs", ()):
        walk(struct["fields"], f"{struct['name']}.")
    return found


def _codes(old: Snapshot, new: Snapshot) -> Iterator[Finding]:
    for enum, constants in new.codes.items():
        area = "error codes" if enum == "Errors" else "codes of ACLs"
        before = old.codes.get(enum, {})
        for name, code in constants.items():
            if name not in before:
                yield Finding(area, name, f"{enum} {code}")
        for name in before.keys() - constants.keys():
            yield Finding(area, name, f"no longer in {enum}")


def _features(old: Snapshot, new: Snapshot) -> Iterator[Finding]:
    for name, row in new.features.items():
        now, was = _levels(row), _levels(old.features.get(name))
        if now != was:
            yield Finding("features", name, f"{was} -> {now}")
    for name in old.features.keys() - new.features.keys():
        yield Finding("features", name, "gone")


def _levels(row: Fact | None) -> str:
    return f"{row['min']}-{row['max']}, level {row['level']}" if row else "none"


def _settings(old: Mapping[str, Fact], new: Mapping[str, Fact]) -> Iterator[Finding]:
    for subject, row in new.items():
        before = old.get(subject)
        if before is None:
            told = ", ".join(f"{key} {value}" for key, value in row.items())
            yield Finding("settings", subject, f"new: {told}")
            continue
        for key in sorted(row.keys() | before.keys()):
            if row.get(key) != before.get(key):
                yield Finding("settings", subject, f"{key}: {before.get(key)} -> {row.get(key)}")
    for subject in old.keys() - new.keys():
        yield Finding("settings", subject, "gone")


def _permissions(old: Snapshot, new: Snapshot) -> Iterator[Finding]:
    for api in sorted(old.asked.keys() | new.asked.keys()):
        was, now = old.asked.get(api, frozenset()), new.asked.get(api, frozenset())
        if was != now:
            told = [f"+ {question}" for question in sorted(now - was)]
            told += [f"- {question}" for question in sorted(was - now)]
            yield Finding("permissions", api, ", ".join(told))


def _handlers(old: Snapshot, new: Snapshot) -> Iterator[Finding]:
    for method, calls in new.methods.items():
        if method not in old.methods:
            yield Finding("handlers", method, "new")
        elif calls != old.methods[method]:
            yield Finding("handlers", method, _difference(old.methods[method], calls))
    for method in old.methods.keys() - new.methods.keys():
        yield Finding("handlers", method, "gone")


def _difference(old: Calls, new: Calls) -> str:
    was, now = Counter(old), Counter(new)
    told = [f"+ {call}" for call in sorted(now - was)]
    told += [f"- {call}" for call in sorted(was - now)]
    return ", ".join(told) or "the same calls in another order"
