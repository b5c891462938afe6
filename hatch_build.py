"""The README as the package index shows it: links and pictures with the repository's address."""

import re
from pathlib import Path
from typing import Any, Final

from hatchling.metadata.plugin.interface import MetadataHookInterface

REPOSITORY: Final = "https://github.com/kafka-shim/kafka-shim/blob/main/"
PICTURES: Final = "https://raw.githubusercontent.com/kafka-shim/kafka-shim/main/"
_LINK: Final = re.compile(r"(!?)(\[[^\]]*\]\()(?!https?://|#)([^)\s]+)(?=\))")
_HTML_PICTURE: Final = re.compile(r'(\bsrc(?:set)?=")(?!https?://)')


def absolute(markdown: str) -> str:
    """Return a text whose relative links lead to the repository."""
    linked = _LINK.sub(
        lambda found: f"{found[1]}{found[2]}{PICTURES if found[1] else REPOSITORY}{found[3]}",
        markdown,
    )
    return _HTML_PICTURE.sub(lambda found: f"{found[1]}{PICTURES}", linked)


class CustomMetadataHook(MetadataHookInterface):
    """Gives the package its long description, from README.md."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set `readme`."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text)}
