"""Hooks of mkdocs: links to files outside docs/ lead to the repository, and the search that works
without a server is ours, since the one of the theme is loaded from another server.
"""

import posixpath
import re
from pathlib import Path
from typing import Any, Final

REPOSITORY: Final = "https://github.com/kafka-shim/kafka-shim/blob/main/"
_LINK: Final = re.compile(r"(?<=\]\()([^)\s:#]+)(?=[)#])")


_CELL: Final = re.compile(r"(?<=<td>).*?(?=</td>)", re.DOTALL)
_TEXT: Final = re.compile(r"(?<=>)[^<]+|^[^<]+")
_JOINT: Final = re.compile(r"(?<=\w[_/.])(?=\w)(?!py\b)|(?<=[a-z])(?=[A-Z])")
_WORKER: Final = re.compile(r"https://unpkg\.com/iframe-worker/shim")
WORKER: Final = "assets/javascripts/worker.js"


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return the page with such links changed; those within docs/ are left to mkdocs."""
    folder = posixpath.dirname(f"docs/{page.file.src_uri}")

    def changed(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, found[1]))
        return found[0] if target.startswith("docs/") else REPOSITORY + target

    return _LINK.sub(changed, markdown)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Return the page with our script instead of another server's, and with narrow tables."""
    output = _CELL.sub(lambda cell: _TEXT.sub(breakable, cell[0]), output)
    return _WORKER.sub("../" * page.url.count("/") + WORKER, output)


def breakable(text: re.Match[str]) -> str:
    """Let long names of files, fields and errors break between their words."""
    return _JOINT.sub("<wbr>", text[0])


def on_post_build(config: Any, **_: Any) -> None:
    """Add the script, and change the page that has no source."""
    folder = Path(config.site_dir)
    (folder / WORKER).write_text(Path(__file__).with_name("worker.js").read_text())
    missing = folder / "404.html"
    missing.write_text(_WORKER.sub(f"/{WORKER}", missing.read_text()))
