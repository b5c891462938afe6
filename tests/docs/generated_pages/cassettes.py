"""The list of tolerated differences in docs/guides/cassettes.md, made of what playbacks compare."""

import re
from typing import Final

from kafka_shim.traces.cassettes.tolerated import exact_apis, tolerated_differences
from tests.docs.shown import ROOT

PAGE: Final = ROOT / "docs" / "guides" / "cassettes.md"
_PART: Final = re.compile(r"(<!-- tolerated -->\n).*(<!-- end of tolerated -->)", re.DOTALL)


def cassettes_page() -> str:
    """Return the page with its list replaced."""
    lines = ["", "| difference | by default | `strict` |", "|---|---|---|"]
    lines += [f"| {' | '.join(row)} |" for row in tolerated_differences()]
    lines += ["", f"Administrative requests are {exact_apis()}.", ""]
    page = PAGE.read_text(encoding="utf-8")
    return _PART.sub(lambda part: part[1] + "\n".join([*lines, ""]) + part[2], page)
