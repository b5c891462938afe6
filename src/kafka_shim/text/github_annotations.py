"""Annotations of GitHub Actions, which are shown beside a changed line."""


def github_annotation(level: str, path: str, line: int, message: str) -> str:
    """Return a line such as `::error file=policy.yaml,line=4,title=Kafka ACLs::...`."""
    file = _escape_for_annotation(path).replace(":", "%3A").replace(",", "%2C")
    place = f"file={file},line={line}" if line else f"file={file}"
    return f"::{level} {place},title=Kafka ACLs::{_escape_for_annotation(message)}"


def _escape_for_annotation(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
