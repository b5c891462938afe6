"""Two definitions of one message become one that has the versions of both.

Where both define a version the later release is right: the few differences between them are in
broker-internal messages whose earlier form was never stable.
"""

from collections.abc import Iterable, Iterator
from typing import Any

Definition = dict[str, Any]
Layout = tuple[object, ...]

RANGES = ("versions", "nullableVersions", "taggedVersions", "flexibleVersions")
TOP = 1 << 15


def parse_versions(text: str | None, top: int = TOP) -> range:
    """Read Kafka's spelling of versions: `none`, `3`, `0-4`, `2+` (up to and with `top`)."""
    if text is None or text == "none":
        return range(0)
    if text.endswith("+"):
        return range(int(text[:-1]), top + 1)
    low, _, high = text.partition("-")
    return range(int(low), int(high or low) + 1)


def versions_text(versions: Iterable[int], top: int) -> str:
    """Write versions in Kafka's spelling; they must be without a gap."""
    sorted_versions = sorted(versions)
    if not sorted_versions:
        return "none"
    low, high = sorted_versions[0], sorted_versions[-1]
    if len(sorted_versions) != high - low + 1:
        raise ValueError(f"versions {sorted_versions} have a gap")
    if high == top:
        return f"{low}+"
    return str(low) if low == high else f"{low}-{high}"


def merge_definitions(older: Definition, newer: Definition) -> Definition:
    """Return a definition with the versions of both. Raise ValueError where that cannot be
    versions.
    """
    has_older = parse_versions(older["validVersions"])
    has_newer = parse_versions(newer["validVersions"])
    only_older = [version for version in has_older if version not in has_newer]
    if not has_newer:
        return older
    if not only_older:
        return newer
    merger = _DefinitionMerger(only_older, list(has_newer))
    merged = {**newer, "fields": merger.merge_fields(older["fields"], newer["fields"])}
    merged["validVersions"] = versions_text({*only_older, *has_newer}, TOP)
    merged["flexibleVersions"] = merger.merge_ranges(older, newer, "flexibleVersions") or "none"
    if "commonStructs" in merged or "commonStructs" in older:
        merged["commonStructs"] = merger.merge_structs(
            older.get("commonStructs", []), newer.get("commonStructs", [])
        )
    _check_same_layout(merged, older, only_older)
    _check_same_layout(merged, newer, has_newer)
    return merged


class _DefinitionMerger:
    """Which versions each of two definitions answers for."""

    def __init__(self, older: list[int], newer: list[int]) -> None:
        self._older, self._newer = older, newer
        self._top = max(older + newer)

    def merge_ranges(self, older: Definition, newer: Definition, key: str) -> str | None:
        if older.get(key) == newer.get(key):
            return older.get(key)
        in_older, in_newer = (parse_versions(side.get(key), self._top) for side in (older, newer))
        chosen = {v for v in self._older if v in in_older} | {
            v for v in self._newer if v in in_newer
        }
        return versions_text(chosen, self._top) if chosen else None

    def merge_fields(self, older: list[Definition], newer: list[Definition]) -> list[Definition]:
        by_name = {field["name"]: field for field in older}
        merged = [self._merge_field(by_name.get(field["name"]), field) for field in newer]
        names = [field["name"] for field in merged]
        at = 0
        for field in older:  # those that only the older has keep their place after their neighbour
            if field["name"] in names:
                at = names.index(field["name"]) + 1
            else:
                merged.insert(at, self._merge_field(field, None))
                names.insert(at, field["name"])
                at += 1
        return merged

    def merge_structs(self, older: list[Definition], newer: list[Definition]) -> list[Definition]:
        names = list(dict.fromkeys(struct["name"] for struct in newer + older))
        by_name = [{struct["name"]: struct for struct in side} for side in (older, newer)]
        merged = []
        for name in names:
            old, new = (side.get(name, {"fields": []}) for side in by_name)
            versions = self.merge_ranges(old, new, "versions")
            fields = self.merge_fields(old["fields"], new["fields"])
            merged.append({"name": name, "versions": versions, "fields": fields})
        return merged

    def _merge_field(self, older: Definition | None, newer: Definition | None) -> Definition:
        old, new = older or {}, newer or {}
        merged = {**(new or old)}
        for key in RANGES:
            if key == "flexibleVersions" or (key not in old and key not in new):
                continue
            versions = self.merge_ranges(old, new, key)
            merged.pop(key, None)
            if versions is not None:
                merged[key] = versions
        if "fields" in old or "fields" in new:
            merged["fields"] = self.merge_fields(old.get("fields", []), new.get("fields", []))
        order = [key for key in (*old, *new) if key in merged]
        return {key: merged[key] for key in sorted(merged, key=order.index)}


def _check_same_layout(merged: Definition, part: Definition, versions: Iterable[int]) -> None:
    for version in versions:
        if list(fields_on_wire(merged, version)) != list(fields_on_wire(part, version)):
            raise ValueError(f"merged `{part['name']}` differs in version {version}")


def fields_on_wire(definition: Definition, version: int) -> Iterator[Layout]:
    """Yield what one version puts on the wire, in order: the fields and their types."""
    flexible = version in parse_versions(definition.get("flexibleVersions"))
    structs = {s["name"]: s["fields"] for s in definition.get("commonStructs", [])}

    def walk(fields: list[Definition], path: str) -> Iterator[Layout]:
        for field in fields:
            if version not in parse_versions(field["versions"]):
                continue
            name = f"{path}.{field['name']}"
            tagged = version in parse_versions(field.get("taggedVersions"))
            nullable = version in parse_versions(field.get("nullableVersions"))
            tag = field.get("tag") if tagged else None
            compact = flexible and field.get("flexibleVersions") != "none"
            yield (name, field["type"], nullable, tag, compact, field.get("default"))
            inner = field.get("fields") or structs.get(field["type"].removeprefix("[]"), [])
            yield from walk(inner, name)

    yield from walk(definition["fields"], definition["name"])
