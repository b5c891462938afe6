"""Findings beside the lines of a change: SARIF 2.1.0, and annotations of GitHub Actions."""

import hashlib
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

import msgspec

from kafka_shim.text.extras import HOME, page_address

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


class SarifResult(msgspec.Struct, frozen=True):
    """A finding with its rule, its place and its text."""

    rule_id: str
    level: str
    """`error` or `warning`."""
    path: str
    line: int
    text: str


def sarif_log(results: Iterable[SarifResult], rules: Mapping[str, str]) -> dict[str, Any]:
    """Return the log of one run; `rules` has a description for each rule."""
    return {
        "$schema": SCHEMA,
        "version": SCHEMA.rpartition("-")[2].removesuffix(".json"),
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "kafka-shim",
                        "informationUri": HOME,
                        "version": version("kafka-shim"),
                        "rules": [
                            {
                                "id": rule_id,
                                "shortDescription": {"text": description},
                                "helpUri": page_address("docs/guides/acls-as-code.md"),
                            }
                            for rule_id, description in rules.items()
                        ],
                    }
                },
                "results": [_result_object(result) for result in results],
            }
        ],
    }


def _result_object(result: SarifResult) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(PurePath(result.path).as_posix())}}
    if result.line:
        place["region"] = {"startLine": result.line}
    fingerprint = hashlib.sha256(f"{result.rule_id}\n{result.path}\n{result.text}".encode())
    return {
        "ruleId": result.rule_id,
        "level": result.level,
        "message": {"text": result.text},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"finding/v1": fingerprint.hexdigest()},
    }


def github_annotation(level: str, path: str, line: int, message: str) -> str:
    """Return a line such as `::error file=policy.yaml,line=4,title=Kafka ACLs::...`."""
    file = _escape_for_annotation(path).replace(":", "%3A").replace(",", "%2C")
    place = f"file={file},line={line}" if line else f"file={file}"
    return f"::{level} {place},title=Kafka ACLs::{_escape_for_annotation(message)}"


def _escape_for_annotation(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
