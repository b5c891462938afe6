"""Hooks of mkdocs: the home page, links to files outside docs/, tabs, llms.txt and Markdown twins.

The search that works without a server is ours, since the one of the theme is loaded from another
server.
"""

import json
import posixpath
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Final

import yaml

REPOSITORY: Final = "https://github.com/kafka-shim/kafka-shim/blob/main/"
FOLDERS: Final = "https://github.com/kafka-shim/kafka-shim/tree/main/"
ROOT: Final = Path(__file__).parents[2]
SEARCH: Final = "assets/javascripts/search.js"
INDEX: Final = "search/search_index.json"
PHRASES: Final = ROOT / "docs" / "site" / "phrases"
"""What readers type, by page and section: files of phrases."""
HOME: Final = "README.md"
HOME_SOURCE: Final = "docs/site/home.md"
"""The home page of the site, in place of the list of all pages that GitHub shows."""

BOOSTS: Final = (
    ("start/", 1.05),
    ("guides/", 1.05),
    ("packages/", 1.05),
    ("reference/conformance/", 0.9),
    ("reference/driver-contract.md", 0.8),
    ("reference/http-api.md", 0.85),
    ("reference/python-api.md", 0.85),
    ("reference/settings.md", 0.85),
    ("reference/vectors-scoreboard.md", 0.8),
    ("explanation/", 0.9),
)
"""How much a page counts in the search, by the beginning of its path; others count once."""

_LINK: Final = re.compile(r"(?<=\]\()([^)\s:#]+)(?=[)#])")
_PICTURE: Final = re.compile(
    r'<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">'
    r'\s*<img ([^>]*)src="([^"]+)">\s*</picture>'
)
_ROW: Final = re.compile(r"\| \[([^]]+)\]\(([^)]+)\) \| (.+) \|$")
_CELL: Final = re.compile(r"(?<=<td>).*?(?=</td>)", re.DOTALL)
_TEXT: Final = re.compile(r"(?<=>)[^<]+|^[^<]+")
_JOINT: Final = re.compile(r"(?<=\w[_/.])(?=\w)(?!py\b)|(?<=[a-z])(?=[A-Z])")
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
    """Return the page with what its script needs."""
    if page.file.src_uri != "reference/permissions.md":
        return html
    text = (ROOT / "docs" / "reference" / "releases.md").read_text(encoding="utf-8")
    return f'<div id="releases" data-releases="{" ".join(_RELEASE.findall(text))}"></div>{html}'


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Return the page with our script instead of another server's, and with narrow tables."""
    output = _CELL.sub(lambda cell: _TEXT.sub(breakable, cell[0]), output)
    return _WORKER.sub("../" * page.url.count("/") + SEARCH, output)


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


def read_phrases() -> dict[str, dict[str, list[str]]]:
    """Return what readers type, by the path of a page, and by `page` or the anchor of a section."""
    return {
        path: {
            anchor: [" ".join(phrase.split()) for phrase in phrases.split(";")]
            for anchor, phrases in sections.items()
        }
        for file in sorted(PHRASES.glob("*.yml"))
        for path, sections in yaml.safe_load(file.read_text(encoding="utf-8")).items()
    }


def phrases_by_location() -> dict[str, list[str]]:
    """Return what readers type, by the address of a page or a section, with the page's questions.

    The comment below the title of a page has its questions.
    """
    found: dict[str, list[str]] = {}
    for path, text in _twins.items():
        if comment := _QUESTIONS.search(text):
            found[_address(path)] = re.findall(r"[^?]+\?", comment[1])
    for path, sections in read_phrases().items():
        for anchor, phrases in sections.items():
            address = _address(path) if anchor == "page" else f"{_address(path)}#{anchor}"
            found.setdefault(address, []).extend(phrases)
    return found


def _address(path: str) -> str:
    return re.sub(r"(README)?\.md$", lambda end: "index.html" if end[1] else ".html", path)


def on_post_build(config: Any, **_: Any) -> None:
    """Add the script, llms.txt and the Markdown twins, and change the page without a source."""
    folder = Path(config.site_dir)
    index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    phrases = phrases_by_location()
    for section in index["docs"]:
        section["phrases"] = phrases.pop(section["location"], [])
    if phrases:
        raise ValueError(f"{PHRASES} has sections that do not exist: {', '.join(phrases)}")
    (folder / INDEX).write_text(json.dumps(index, separators=(",", ":")), encoding="utf-8")
    readme = Path(config.docs_dir, HOME).read_text(encoding="utf-8")
    (folder / "llms.txt").write_text(llms_text(readme, config.site_url, _twins), encoding="utf-8")
    for path, text in _twins.items():
        (folder / path).write_text(text, encoding="utf-8")
    (folder / SEARCH).write_text(Path(__file__).with_name("search.js").read_text())
    missing = folder / "404.html"
    base = "/" + config.site_url.split("/", 3)[3]
    missing.write_text(_WORKER.sub(base + SEARCH, missing.read_text()))
