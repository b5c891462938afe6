"""Hooks of mkdocs: the home page, links to files outside docs/, tabs, llms.txt and Markdown twins.

The search that works without a server is ours, since the one of the theme is loaded from another
server.
"""

import posixpath
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Final

REPOSITORY: Final = "https://github.com/kafka-shim/kafka-shim/blob/main/"
FOLDERS: Final = "https://github.com/kafka-shim/kafka-shim/tree/main/"
ROOT: Final = Path(__file__).parents[2]
WORKER: Final = "assets/javascripts/worker.js"
HOME: Final = "README.md"
HOME_SOURCE: Final = "docs/site/home.md"
"""The home page of the site, in place of the list of all pages that GitHub shows."""

BOOSTS: Final = (
    ("start/denials.md", 2.4),
    ("start/", 1.8),
    ("guides/acls-as-code.md", 1.2),
    ("guides/custom-authorizer.md", 1.2),
    ("guides/import.md", 2.0),
    ("guides/troubleshooting.md", 2.0),
    ("guides/configuration.md", 3.0),
    ("guides/faults.md", 2.0),
    ("guides/least-acls.md", 2.0),
    ("guides/persistence.md", 1.2),
    ("guides/pipeline.md", 1.3),
    ("guides/vectors.md", 1.0),
    ("guides/", 1.5),
    ("packages/", 1.3),
    ("reference/commands/broker-options.md", 3.5),
    ("reference/commands/acls.md", 0.6),
    ("reference/commands/pipeline.md", 0.5),
    ("reference/commands/trace.md", 0.6),
    ("reference/environment.md", 2.0),
    ("reference/releases.md", 2.0),
    ("reference/errors.md", 1.5),
    ("reference/limits.md", 1.5),
    ("reference/settings.md", 0.3),
    ("reference/tables.md", 0.3),
    ("reference/driver-contract.md", 0.4),
    ("reference/python-api.md", 0.5),
    ("reference/http-api.md", 0.4),
    ("reference/conformance/", 0.3),
    ("reference/atlas/", 2.0),
    ("reference/vectors-scoreboard.md", 0.3),
    ("explanation/architecture.md", 0.4),
    ("explanation/differences.md", 0.8),
    ("explanation/derived-accesses.md", 0.5),
    ("explanation/decisions/", 0.5),
)
"""How much a page counts in the search, by the beginning of its path; others count once."""

WORDS: Final = {
    "guides/acl-formats.md": "kafkaacls",
    "guides/languages.md": "dotnet",
    "guides/least-acls.md": "leastacls",
    "reference/commands/least-acls.md": "leastacls",
    "reference/commands/acls.md": "kafkaacls",
    "reference/commands/who-can.md": "whoisallowed",
    "start/denials.md": "grant access, grant permission",
    "guides/conformance.md": "client library",
    "reference/metrics.md": "Grafana",
}
"""Readers' words that a page does not have, and names in one piece.

The parts of these names are empty words, or on every page. worker.js replaces them in queries, too.
"""

_LINK: Final = re.compile(r"(?<=\]\()([^)\s:#]+)(?=[)#])")
_PICTURE: Final = re.compile(
    r'<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">'
    r'\s*<img ([^>]*)src="([^"]+)">\s*</picture>'
)
_ROW: Final = re.compile(r"\| \[([^]]+)\]\(([^)]+)\) \| (.+) \|$")
_CELL: Final = re.compile(r"(?<=<td>).*?(?=</td>)", re.DOTALL)
_TEXT: Final = re.compile(r"(?<=>)[^<]+|^[^<]+")
_JOINT: Final = re.compile(r"(?<=\w[_/.])(?=\w)(?!py\b)|(?<=[a-z])(?=[A-Z])")
_API_HEADING: Final = re.compile(r"<h[23] [^>]*>(\w+)<.*?</h[23]>")
_QUESTIONS: Final = re.compile(r"<!-- ([^<]+\?) -->")
_WORKER: Final = re.compile(r"https://unpkg\.com/iframe-worker/shim")
_TABS: Final = re.compile(r"^<!-- tabs -->\n(.*?)^<!-- /tabs -->$", re.MULTILINE | re.DOTALL)
_TAB: Final = re.compile(r"^#+ ([^\n]+)\n(.*?)(?=^#+ |\Z)", re.MULTILINE | re.DOTALL)
_FENCE: Final = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_INDENTED: Final = re.compile(r"(?<=\n\n)(?: {4}[^\n]*\n|\n(?= {4}))+")
_RELEASE: Final = re.compile(r"^\| (\d+\.\d+) \|", re.MULTILINE)

_outside: set[str] = set()
"""The pages of the site that are outside of docs/, by their path in the repository."""
_twins: dict[str, str] = {}
"""The Markdown of each page for other programs, by path."""


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Add the pages of the navigation that are outside of docs/, such as READMEs of packages."""
    from mkdocs.structure.files import File  # noqa: PLC0415 - tests read this file without mkdocs

    for path in _paths(config.nav):
        if not (ROOT / "docs" / path).exists():
            file = File(path, str(ROOT), config.site_dir, config.use_directory_urls)
            file.edit_uri = f"../{path}"
            files.append(file)
            _outside.add(path)
    return files


def _paths(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    else:
        for entry in nav.values() if isinstance(nav, dict) else nav:
            yield from _paths(entry)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return the page as mkdocs reads it: with links to the repository, and with tabs."""
    path = page.file.src_uri
    if path == HOME:
        page.meta["hide"] = ["navigation", "toc"]
        markdown = (ROOT / HOME_SOURCE).read_text(encoding="utf-8")
    text = _with_links_of_site(markdown, path)
    _twins[path] = text
    description = _descriptions().get(path)
    if description:
        page.meta["description"] = description
    page.meta["search"] = {"boost": boost(path)}
    # the theme shows one of the two by the site's scheme, which need not be the system's
    text = _PICTURE.sub(r'<img \2src="\3#only-light"><img \2src="\1#only-dark">', text)
    text = fenced(text.replace("<details>", "<details markdown>"))
    return _TABS.sub(_tabs, text)


def _with_links_of_site(markdown: str, path: str) -> str:
    """Return the text with links that work in the site: to other pages, or to the repository."""
    source = path if path in _outside else f"docs/{path}"
    if path == HOME:
        source = HOME_SOURCE
    folder = posixpath.dirname(source)

    def changed(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, link[1]))
        if target.startswith("docs/") or target in _outside:
            page = target.removeprefix("docs/")
            return posixpath.relpath(page, posixpath.dirname(path))
        return (FOLDERS if (ROOT / target).is_dir() else REPOSITORY) + target

    return _LINK.sub(changed, markdown)


def fenced(markdown: str) -> str:
    """Return the text with its indented blocks of commands as fenced ones, which are coloured."""

    def changed(block: re.Match[str]) -> str:
        lines = [line[4:] for line in block[0].rstrip("\n").splitlines()]
        language = "console" if any(line.startswith("$ ") for line in lines) else "bash"
        return "\n".join([f"```{language}", *lines, "```\n"])

    parts = _FENCE.split(markdown)
    fences = [*_FENCE.findall(markdown), ""]
    return "".join(
        _INDENTED.sub(changed, text) + fence for text, fence in zip(parts, fences, strict=True)
    )


def boost(path: str) -> float:
    """Return how much a page counts in the search."""
    return next((factor for start, factor in BOOSTS if path.startswith(start)), 1.0)


def _tabs(block: re.Match[str]) -> str:
    """Return headings between `<!-- tabs -->` and `<!-- /tabs -->` as tabs."""
    tabs = []
    hidden = _FENCE.sub(lambda fence: fence[0].replace("\n#", "\n\0#"), block[1])
    for title, content in _TAB.findall(hidden):
        lines = content.replace("\0", "").strip().splitlines()
        indented = "\n".join(f"    {line}" if line else "" for line in lines)
        tabs.append(f'=== "{title}"\n\n{indented}\n')
    return "\n".join(tabs)


def _descriptions() -> dict[str, str]:
    """Return the first sentence of each page by its path, from docs/README.md."""
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    rows = (_ROW.match(line) for line in index.splitlines())
    return {row[2].removeprefix("../"): row[3].replace("`", "") for row in rows if row}


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Return the page with words for the search, and with what its script needs.

    The comment below the title has the questions of the page's readers, in their words.
    """
    path = page.file.src_uri
    html = _QUESTIONS.sub(r"<div hidden>\1</div>", html, count=1)
    if words := WORDS.get(path):
        html = html.replace("</h1>", f"</h1><p hidden>{words}</p>", 1)
    if path != "reference/permissions.md":
        return html
    html = _API_HEADING.sub(lambda h: f"{h[0]}<p hidden>{_JOINT.sub(' ', h[1])}</p>", html)
    text = (ROOT / "docs" / "reference" / "releases.md").read_text(encoding="utf-8")
    return f'<div id="releases" data-releases="{" ".join(_RELEASE.findall(text))}"></div>{html}'


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Return the page with our script instead of another server's, and with narrow tables."""
    output = _CELL.sub(lambda cell: _TEXT.sub(breakable, cell[0]), output)
    return _WORKER.sub("../" * page.url.count("/") + WORKER, output)


def breakable(text: re.Match[str]) -> str:
    """Let long names of files, fields and errors break between their words."""
    return _JOINT.sub("<wbr>", text[0])


def llms_text(readme: str, site_url: str, pages: Collection[str]) -> str:
    """Return the list of pages for language models (llmstxt.org), made of docs/README.md."""
    lines = ["# kafka-shim", ""]
    for line in readme.splitlines()[2:]:
        if line.startswith("All pages of kafka-shim, "):
            lines.append(f"> kafka-shim is {line.removeprefix('All pages of kafka-shim, ')}")
        elif line.startswith("## "):
            lines += ["", line, ""]
        elif row := _ROW.match(line):
            title, target, sentence = row.groups()
            path = target.removeprefix("../")
            address = (site_url if path in pages else REPOSITORY) + path
            lines.append(f"- [{title}]({address}): {sentence}")
    return "\n".join(lines) + "\n"


def on_post_build(config: Any, **_: Any) -> None:
    """Add the script, llms.txt and the Markdown twins, and change the page without a source."""
    folder = Path(config.site_dir)
    readme = Path(config.docs_dir, HOME).read_text(encoding="utf-8")
    (folder / "llms.txt").write_text(llms_text(readme, config.site_url, _twins), encoding="utf-8")
    for path, text in _twins.items():
        (folder / path).write_text(text, encoding="utf-8")
    (folder / WORKER).write_text(Path(__file__).with_name("worker.js").read_text())
    missing = folder / "404.html"
    base = "/" + config.site_url.split("/", 3)[3]
    missing.write_text(_WORKER.sub(base + WORKER, missing.read_text()))
