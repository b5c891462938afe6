"""The site is built without warnings, and can be read and searched without a web server."""

import re
import subprocess
import time
from pathlib import Path

import pytest

from tests.browser import BROWSER, DRIVER, chromium
from tests.docs.index import listed_pages
from tests.docs.shown import ROOT

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = ["make", "-C", str(ROOT), "site", f"SITE_DIR={folder}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_in_the_site(site: Path) -> None:
    index = (site / "index.html").read_text()
    for page in listed_pages():
        path = re.sub(r"(README)?\.md$", lambda end: "index.html" if end[1] else ".html", page.path)
        assert (site / path).exists(), f"{page.path} is missing"
        assert f'href="{path}"' in index


def test_the_list_for_language_models_has_the_policy_pages(site: Path) -> None:
    text = (site / "llms.txt").read_text()
    for page in ("guides/acls-as-code.md", "reference/commands/policy.md"):
        assert re.search(rf"^- \[.+\]\(https://.+/docs/{page}\): .+", text, re.MULTILINE), page
    assert text.count("\n- [") == sum(page.path != "README.md" for page in listed_pages())


def test_the_schemas_are_in_the_site(site: Path) -> None:
    names = {path.name for path in (ROOT / "docs" / "schemas").glob("*.json")}
    assert len(names) > 10
    assert {path.name for path in (site / "schemas").iterdir()} == names


@pytest.mark.skipif(
    BROWSER is None or DRIVER is None,
    reason="needs a browser: Debian's packages chromium and chromium-driver",
)
def test_the_site_is_searchable_from_a_folder(site: Path) -> None:
    with chromium() as driver:
        driver.get((site / "index.html").as_uri())
        driver.execute_script("document.querySelector('[data-md-component=search-query]').focus()")
        driver.switch_to.active_element.send_keys("least acls")
        deadline = time.monotonic() + 20
        while not driver.find_elements("css selector", ".md-search-result__item"):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert [row for row in driver.get_log("browser") if row["level"] == "SEVERE"] == []
