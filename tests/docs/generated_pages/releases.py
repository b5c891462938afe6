"""The tables of APIs and KIPs in docs/reference/releases.md."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from kafka_shim.authorizer.requirements import TABLE
from kafka_shim.protocol.api_versions import RELEASES, served_versions
from kafka_shim.protocol.enums import ApiKey
from tests.docs.generated_pages.kips import KIPS, Kip
from tests.docs.shown import ROOT

PAGE: Final = ROOT / "docs" / "reference" / "releases.md"
_DIFFERENCES: Final = ROOT / "docs" / "explanation" / "differences.md"
_PART: Final = re.compile(r"(<!-- (apis|kips) -->\n).*?(<!-- end of the \2 -->)", re.DOTALL)
_VECTOR: Final = re.compile(rb'"when": ?\{[^{}]*?"api": ?"(\w+)"')


def releases_page() -> str:
    """Return the page with its tables of APIs and KIPs replaced."""
    tables = {"apis": "\n".join(_api_lines()), "kips": "\n".join(_kip_lines())}
    text = PAGE.read_text(encoding="utf-8")
    return _PART.sub(lambda part: f"{part[1]}\n{tables[part[2]]}\n\n{part[3]}", text)


def _api_lines() -> Iterator[str]:
    """Yield a row for each API that clients can call in some release."""
    yield "| API | releases | versions in the newest of them | differs | test vectors |"
    yield "|---|---|---|---|---|"
    different = _DIFFERENCES.read_text(encoding="utf-8")
    vectors = _vectors_by_api()
    checked = {row.api for row in TABLE}
    for api in ApiKey:
        releases = [release for release in RELEASES if api in served_versions(release)]
        if not releases:
            continue
        low, high = served_versions(releases[-1])[api]
        title = api.wire_name
        differs = re.search(
            rf"/handlers/(?:\w+/)?{api.name.lower()}\.py\)|\b{title}\b.*/always_rejected\.py\)",
            different,
        )
        if api in checked:
            title = f"[{title}](permissions.md#{title.lower()})"
        span = f"{releases[0]} to {releases[-1]}"
        mark = "[yes](../explanation/differences.md)" if differs else ""
        yield f"| {title} | {span} | {low} to {high} | {mark} | {vectors[api.wire_name]:,} |"
    absent = [
        api.wire_name
        for api in ApiKey
        if not any(api in served_versions(release) for release in RELEASES)
    ]
    yield ""
    yield f"Absent, because clients cannot call them: {', '.join(absent)}."


def _vectors_by_api() -> Counter[str]:
    """Return the number of test vectors of each API."""
    counts: Counter[str] = Counter()
    for path in (ROOT / "vectors").glob("*/*.json"):
        counts.update(name.decode() for name in _VECTOR.findall(path.read_bytes()))
    return counts


def _kip_lines() -> Iterator[str]:
    yield "| KIP | subject | state | shown by |"
    yield "|---|---|---|---|"
    for kip in sorted(KIPS, key=lambda kip: kip.number):
        yield f"| KIP-{kip.number} | {kip.subject} | {_state(kip)} | {_proof(kip)} |"


def _state(kip: Kip) -> str:
    return f"{kip.state}: {kip.note}" if kip.note else kip.state


def _proof(kip: Kip) -> str:
    if not kip.test:
        return ""
    name = kip.test.removeprefix("tests/").removesuffix("/")
    return f"[{name}](../../{kip.test})"
