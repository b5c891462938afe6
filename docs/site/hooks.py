"""Hooks of mkdocs: links to files outside docs/ lead to the repository, and the search that works
without a server is ours, since the one of the theme is loaded from another server.
"""

import posixpath
import re
from pathlib import Path
from typing import Any, Final

REPOSITORY: Final = "https://github.com/kafka-shim/kafka-shim/blob/main/"
_RAW: Final = "https://raw.githubusercontent.com/kafka-shim/kafka-shim/main/"
_ROW: Final = re.compile(r"\| \[([^]]+)\]\(([^)]+)\) \| (.+) \|$")
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


def llms_text(readme: str) -> str:
    """Return the list of pages for language models (llmstxt.org), made of docs/README.md."""
    lines = ["# kafka-shim", ""]
    for line in readme.splitlines()[2:]:
        if line.startswith("All pages of kafka-shim, "):
            lines.append(f"> kafka-shim is {line.removeprefix('All pages of kafka-shim, ')}")
        elif line.startswith("## "):
            lines += ["", line, ""]
        elif row := _ROW.match(line):
            title, target, sentence = row.groups()
            lines.append(f"- [{title}]({_RAW}docs/{target}): {sentence}")
    return "\n".join(lines) + "\n"


def on_post_build(config: Any, **_: Any) -> None:
    """Add the script and llms.txt, and change the page that has no source."""
    folder = Path(config.site_dir)
    readme = Path(config.docs_dir, "README.md").read_text(encoding="utf-8")
    (folder / "llms.txt").write_text(llms_text(readme), encoding="utf-8")
    (folder / WORKER).write_text(Path(__file__).with_name("worker.js").read_text())
    missing = folder / "404.html"
    missing.write_text(_WORKER.sub(f"/{WORKER}", missing.read_text()))
