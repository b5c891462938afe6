"""The site is built without warnings, and can be read and searched without a web server."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.browser import BROWSER, DRIVER, chromium
from tests.docs.index import listed_pages, navigation
from tests.docs.shown import ROOT
from tests.docs.site_search import open_site

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
        edited = f"{settings['repo_url']}/{settings['edit_uri']}{page.path}"
        assert edited in html, page.path
        assert 'class="md-footer__link md-footer__link--' in html  # previous or next
    assert (site / "assets" / "images" / "card.png").read_bytes().startswith(b"\x89PNG")


def test_the_home_page_begins_with_the_promise_and_the_first_result(site: Path) -> None:
    html = (site / "index.html").read_text()
    article = html.partition("<article")[2]
    first = article[: article.index("<h2")]
    for text in ("exactly", "pip install kafka-shim", "kafka-shim explain", "recorded responses"):
        assert text in re.sub(r"<[^>]+>", "", first), text
    assert 'href="guides/pytest.html"' in article


def test_the_page_for_wrong_addresses_works_below_a_path(site: Path) -> None:
    """Its address may be in any folder, so its links must not be relative."""
    path = "/" + navigation()["site_url"].split("/", 3)[3]
    links = re.findall(r'(?:href|src)="([^"#]+)"', (site / "404.html").read_text())
    assert [link for link in links if not link.startswith((path, "https://", "data:"))] == []
    assert any(link.endswith("worker.js") for link in links)


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
    assert text.count("\n- [") == sum(page.path != "README.md" for page in listed_pages())


def test_the_schemas_are_in_the_site(site: Path) -> None:
    names = {path.name for path in (ROOT / "docs" / "schemas").glob("*.json")}
    assert len(names) > 10
    assert {path.name for path in (site / "schemas").iterdir()} == names


@pytest.mark.skipif(
    BROWSER is None or DRIVER is None,
    reason="needs a browser: Debian's packages chromium and chromium-driver",
)
def test_the_site_is_searchable_from_a_folder_without_errors(site: Path) -> None:
    with chromium() as driver:
        open_site(driver, site)
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
