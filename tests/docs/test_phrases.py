"""The phrases by which readers search: each page has some, and each leads to one place."""

from collections import Counter
from typing import Any

from tests.docs.index import INDEX, listed_pages
from tests.docs.test_docs import anchors

PHRASES_OF_PAGE_MIN = 7


def test_every_page_of_the_site_has_phrases(hooks: Any) -> None:
    phrases = hooks.read_phrases()
    counts = {path: sum(map(len, sections.values())) for path, sections in phrases.items()}
    pages = {page.path for page in listed_pages()}
    few = {path for path in pages if counts.get(path, 0) < PHRASES_OF_PAGE_MIN}
    assert not few
    assert not phrases.keys() - pages - {hooks.HOME}


def test_a_phrase_leads_to_one_place(hooks: Any) -> None:
    places = Counter(
        phrase.lower()
        for sections in hooks.read_phrases().values()
        for phrases in sections.values()
        for phrase in phrases
    )
    assert "" not in places
    assert not {phrase for phrase, count in places.items() if count > 1}


def test_phrases_of_sections_name_headings(hooks: Any) -> None:
    files = {hooks.HOME: INDEX} | {page.path: page.file for page in listed_pages()}
    for path, sections in hooks.read_phrases().items():
        assert not sections.keys() - anchors(files[path]) - {"page"}, path
