"""The site is built without warnings, and can be read and searched without a web server."""

import re
from functools import cache
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.docs.index import listed_pages, navigation
from tests.docs.shown import ROOT
from tests.docs.site_search import open_site
from tests.support.browser import BROWSER, DRIVER, chromium

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]
RAW_MARKDOWN = re.compile(r"```|\]\(|\*\*\w|^#{1,6} \w|^=== |<!--|\{: ", re.MULTILINE)


def html_path(page: str) -> str:
    """Return the path of a page in the site."""
    return re.sub(r"(README)?\.md$", lambda end: "index.html" if end[1] else ".html", page)


def test_every_page_is_in_the_site_and_has_a_markdown_twin(site: Path) -> None:
    index = (site / "index.html").read_text()
    for page in listed_pages():
        assert (site / html_path(page.path)).exists(), f"{page.path} is missing"
        assert f'href="{html_path(page.path)}"' in index
        assert (site / page.path).read_text().startswith(f"# {page.title}\n")


def test_pages_have_titles_descriptions_cards_and_links_to_edit_them(site: Path) -> None:
    settings = navigation()
    for page in listed_pages():
        html = (site / html_path(page.path)).read_text()
        assert 'property="og:title"' in html
        assert f'property="og:image" content="{settings["site_url"]}assets/images/card.png"' in html
        assert '<meta name="description" content="' in html, page.path
        edited = f"{settings['repo_url']}/edit/main/{page.file.relative_to(ROOT).as_posix()}"
        assert edited in html, page.path
        assert 'class="md-footer__link md-footer__link--' in html  # previous or next
    assert (site / "assets" / "images" / "card.png").read_bytes().startswith(b"\x89PNG")


def test_every_page_has_an_entry_with_its_title_in_the_navigation(site: Path) -> None:
    """A section's title is not an entry: readers do not expect a page behind it."""
    html = (site / "index.html").read_text()
    for page in listed_pages():
        address = re.escape(html_path(page.path))
        [entry] = re.findall(
            rf'<a href="{address}" class="md-nav__link">(.*?)</a>', html, re.DOTALL
        )
        shown = unescape(re.sub(r"<[^>]+>", "", entry)).strip()
        assert shown == re.sub(r"[`\\]", "", page.title), page.path


def test_the_home_page_has_promise_code_result_and_three_doors(site: Path) -> None:
    html = (site / "index.html").read_text()
    article = html.partition("<article")[2].partition("</article>")[0]
    text = re.sub(r"<[^>]+>", "", article)
    parts = ("exactly", "kafka_broker", "JUnit 5", "The result", "denied:", "I review ACLs")
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert re.findall(r'<label for="__tabbed_1_\d">(.*?)</label>', article) == [
        "pytest", "Java", "Go", "Node", "Command line",
    ]  # fmt: skip
    assert 'href="start/tutorial.html"' in article


def test_links_of_the_site_lead_to_files_in_it(site: Path) -> None:
    """A link to a folder is dead unless the folder has a page: no server lists it."""
    dead = []
    for path in site.rglob("*.html"):
        if path.name == "404.html":
            continue
        for link in re.findall(r'(?:href|src)="([^"]+)"', path.read_text()):
            address, _, anchor = unescape(link).partition("#")
            if re.match(r"\w+:|//", address):
                continue
            target = path.parent / address if address else path
            has_target = target.is_file()
            if has_target and anchor and target.suffix == ".html":
                has_target = anchor in _ids(target)
            if not has_target:
                dead.append(f"{path.relative_to(site)}: {link}")
    assert dead == []


@cache
def _ids(path: Path) -> set[str]:
    return {unescape(name) for name in re.findall(r' (?:id|name)="?([^"\s>]+)', path.read_text())}


def test_blocks_of_commands_are_coloured(site: Path) -> None:
    """A prompt is marked as one, and no block is without a language."""
    assert '<span class="gp">$ </span>' in (site / "start" / "denials.html").read_text()
    for page in listed_pages():
        html = (site / html_path(page.path)).read_text()
        assert "<pre><code>" not in html, page.path


def test_the_page_for_wrong_addresses_works_below_a_path(site: Path) -> None:
    """Its address may be in any folder, so its links must not be relative."""
    path = "/" + navigation()["site_url"].split("/", 3)[3]
    links = re.findall(r'(?:href|src)="([^"#]+)"', (site / "404.html").read_text())
    assert [link for link in links if not link.startswith((path, "https://", "data:"))] == []
    assert any(link.endswith("search.js") for link in links)


def test_nothing_is_loaded_from_other_servers(site: Path) -> None:
    for page in listed_pages():
        html = (site / html_path(page.path)).read_text()
        sources = re.findall(r'<(?:script|link rel="stylesheet")[^>]+(?:src|href)="([^"]+)"', html)
        assert [source for source in sources if source.startswith(("http", "//"))] == [], page.path


class _Text(HTMLParser):
    """Collects the text of a page's article that is not code."""

    def __init__(self) -> None:
        super().__init__()
        self.depth = self.code = 0
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.depth += tag == "article"
        self.code += tag in ("code", "pre", "script", "style")

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag == "article"
        self.code -= tag in ("code", "pre", "script", "style")

    def handle_data(self, data: str) -> None:
        if self.depth and not self.code:
            self.parts.append(data)


def test_no_page_shows_markdown(site: Path) -> None:
    for page in listed_pages():
        parser = _Text()
        parser.feed((site / html_path(page.path)).read_text())
        shown = RAW_MARKDOWN.findall("".join(parser.parts))
        assert shown == [], page.path


def test_the_list_for_language_models_has_the_policy_pages(site: Path) -> None:
    text = (site / "llms.txt").read_text()
    for page in ("guides/acls-as-code.md", "reference/commands/policy.md"):
        assert re.search(rf"^- \[.+\]\(https://.+/{page}\): .+", text, re.MULTILINE), page
    pages = text.count("\n- [") - text.count("](https://github.com/")
    assert pages == sum(page.path != "README.md" for page in listed_pages())


def test_the_schemas_are_in_the_site(site: Path) -> None:
    names = {path.name for path in (ROOT / "docs" / "schemas").glob("*.json")}
    assert len(names) >= 10
    assert {path.name for path in (site / "schemas").iterdir()} == names


LOW_CONTRAST = """
const parsed = (text) => [...text.match(/[\\d.]+/g).map(Number), 1].slice(0, 4);
const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3]));
const luminance = (colour) => [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => {
  const part = colour[i] / 255;
  return sum + weight * (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
}, 0);
const low = new Set();
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
  const element = texts.currentNode.parentElement;
  const style = getComputedStyle(element);
  if (!texts.currentNode.data.trim()) continue;
  if (!element.checkVisibility({visibilityProperty: true})) continue;
  let background = [255, 255, 255], opacity = 1;
  const ancestors = [];
  for (let up = element; up; up = up.parentElement) {
    ancestors.unshift(up);
    opacity *= getComputedStyle(up).opacity;
  }
  if (!opacity) continue;
  for (const up of ancestors)
    background = over(parsed(getComputedStyle(up).backgroundColor), background);
  const [red, green, blue, alpha] = parsed(style.color);
  const colour = over([red, green, blue, alpha * opacity], background);
  const [light, dark] = [luminance(colour), luminance(background)].sort((a, b) => b - a);
  const contrast = (light + 0.05) / (dark + 0.05);
  if (contrast < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5))
    low.add(`${contrast.toFixed(2)} ${element.tagName}.${element.className}`);
}
return [...low];
"""


@pytest.mark.skipif(
    BROWSER is None or DRIVER is None,
    reason="needs a browser: Debian's packages chromium and chromium-driver",
)
def test_text_has_the_contrast_that_people_need_in_both_schemes(site: Path) -> None:
    """WCAG's AA: 4.5 : 1, and 3 : 1 for headings."""
    pages = ("index", "guides/languages", "guides/configuration", "reference/tables")
    with chromium() as driver:
        for scheme in ("light", "dark"):
            driver.execute_cdp_cmd(
                "Emulation.setEmulatedMedia",
                {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
            )
            for page in pages:
                driver.get((site / f"{page}.html").as_uri())
                assert driver.execute_script(LOW_CONTRAST) == [], (scheme, page)


LINE_LENGTHS = """
const paragraphs = [...document.querySelectorAll("article > p, article .home > p")];
return [paragraphs[0], paragraphs.at(-1)].map((paragraph) => {
  const width = paragraph.clientWidth;
  paragraph.style.cssText = "display: inline-block; max-width: none; white-space: nowrap";
  return paragraph.innerText.length * width / paragraph.clientWidth;
});
"""
"""The characters that a line has room for, in the first and in the last paragraph."""
VISIBLE_PICTURES = """
return [...document.querySelectorAll("article img")]
  .filter((image) => image.checkVisibility()).map((image) => image.currentSrc);
"""


@pytest.mark.skipif(
    BROWSER is None or DRIVER is None,
    reason="needs a browser: Debian's packages chromium and chromium-driver",
)
def test_lines_have_room_for_70_to_90_characters(site: Path) -> None:
    with chromium("1400,1000") as driver:
        for page in ("index", "guides/pytest", "packages/go/index"):
            driver.get((site / f"{page}.html").as_uri())
            first, last = driver.execute_script(LINE_LENGTHS)
            assert 70 <= first <= 90, page
            assert 70 <= last <= 90, page


@pytest.mark.skipif(
    BROWSER is None or DRIVER is None,
    reason="needs a browser: Debian's packages chromium and chromium-driver",
)
def test_the_picture_of_the_home_page_follows_the_switch_of_the_scheme(site: Path) -> None:
    with chromium() as driver:
        driver.get((site / "index.html").as_uri())
        palettes = driver.find_elements("css selector", "[data-md-component=palette] input")
        for palette, name in zip(palettes[1:], ("principals", "principals-dark"), strict=True):
            driver.execute_script("arguments[0].click()", palette)
            [picture] = driver.execute_script(VISIBLE_PICTURES)
            assert f"/pictures/{name}.png#" in picture


@pytest.mark.skipif(
    BROWSER is None or DRIVER is None,
    reason="needs a browser: Debian's packages chromium and chromium-driver",
)
def test_the_site_is_searchable_from_a_folder_without_errors(site: Path) -> None:
    with chromium() as driver:
        open_site(driver, site.as_uri())
        errors = [row for row in driver.get_log("browser") if row["level"] == "SEVERE"]
        # the theme also reads the sitemap, which browsers do not allow without a server
        assert [row for row in errors if "/sitemap.xml" not in row["message"]] == []


@pytest.mark.skipif(
    BROWSER is None or DRIVER is None,
    reason="needs a browser: Debian's packages chromium and chromium-driver",
)
def test_permissions_are_filtered_by_text_and_release(site: Path) -> None:
    with chromium() as driver:
        driver.get((site / "reference" / "permissions.html").as_uri())
        shown = (
            "return [...document.querySelectorAll('article h2[id]')]"
            ".filter((heading) => !heading.hidden).map((heading) => heading.id)"
        )
        everything = driver.execute_script(shown)
        driver.find_element("css selector", ".permission-filter input").send_keys("fetch")
        fetches = driver.execute_script(shown)
        assert {"fetch", "offsetfetch", "sharefetch"} <= set(fetches) < set(everything)
        driver.execute_script(
            "const select = document.querySelector('.permission-filter select');"
            "select.value = '2.7'; select.dispatchEvent(new Event('input', {bubbles: true}))"
        )
        assert "sharefetch" not in driver.execute_script(shown)
        assert "offsetfetch" in driver.execute_script(shown)


@pytest.mark.skipif(
    BROWSER is None or DRIVER is None,
    reason="needs a browser: Debian's packages chromium and chromium-driver",
)
def test_the_copy_button_takes_commands_without_prompt_and_output(site: Path) -> None:
    with chromium() as driver:
        driver.get((site / "start" / "denials.html").as_uri())
        texts = driver.execute_script(
            "return [...document.querySelectorAll('pre > code')]"
            ".map((code) => code.dataset.commands).filter(Boolean)"
        )
        assert "kafka-shim who-can Write topic:orders --bootstrap-server 127.0.0.1:9092" in texts
        assert not [text for text in texts if "$ " in text or "allowed" in text]
