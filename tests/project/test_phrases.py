"""The check of phrases finds them anywhere in a line."""

from tests.project import phrases


def test_each_phrase_is_found() -> None:
    text = "fine\nan API that there is not\nIs of no use, whomever it is for\n"
    assert [(number, phrase) for number, phrase, _ in phrases.found(text)] == [
        (2, "that there is not"),
        (3, "Is of no use"),
        (3, "whomever"),
    ]


def test_newer_phrases_are_found() -> None:
    text = "whoever asks again\na file that is no path\nproduce tells its caller\n"
    assert [phrase for _, phrase, _ in phrases.found(text)] == [
        "whoever",
        "is no path",
        "tells its caller",
    ]


def test_pages_and_sources_have_none() -> None:
    assert phrases.main() == 0
