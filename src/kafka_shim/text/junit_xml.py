"""Results as JUnit XML, which CI systems show."""

import re
from collections.abc import Iterable
from typing import Final
from xml.etree import ElementTree as ET

import msgspec

_UNPRINTABLE: Final = re.compile("[\\x00-\\x08\\x0b-\\x1f\\ud800-\\udfff\\ufffe\\uffff]")


class JunitCase(msgspec.Struct, frozen=True, kw_only=True):
    """A case; it has passed if it has neither a failure nor a reason why it was skipped.

    `output` is the text of the failure, or what a case without failure printed.
    """

    classname: str
    name: str
    failure: str | None = None
    skipped: str | None = None
    output: str = ""
    seconds: float | None = None
    file: str = ""
    line: int = 0


def junit_start_pattern(name: str) -> str:
    """Return the pattern with which the report of that name begins, for `check_output_file`."""
    return rf"<\?xml [^>]*>\s*<testsuite name=\"{re.escape(name)}\""


def junit_report(name: str, cases: Iterable[JunitCase]) -> str:
    """Return the report. Characters that XML does not allow become `?`."""
    suite = ET.Element("testsuite", name=_printable(name))
    counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for case in cases:
        suite.append(_case_element(case))
        counts["tests"] += 1
        counts["failures"] += case.failure is not None
        counts["skipped"] += case.skipped is not None
    for key, count in counts.items():
        suite.set(key, str(count))
    ET.indent(suite)
    text: bytes = ET.tostring(suite, encoding="utf-8", xml_declaration=True)
    return f"{text.decode()}\n"


def _case_element(case: JunitCase) -> ET.Element:
    element = ET.Element(
        "testcase", classname=_printable(case.classname), name=_printable(case.name)
    )
    if case.file:
        element.set("file", _printable(case.file))
        element.set("line", str(case.line))
    if case.seconds is not None:
        element.set("time", f"{case.seconds:.3f}")
    if case.failure is not None:
        failure = ET.SubElement(element, "failure", message=_printable(case.failure))
        failure.text = _printable(case.output) or None
    elif case.skipped is not None:
        ET.SubElement(element, "skipped", message=_printable(case.skipped))
    elif case.output:
        ET.SubElement(element, "system-out").text = _printable(case.output)
    return element


def _printable(text: str) -> str:
    return _UNPRINTABLE.sub("?", text)
