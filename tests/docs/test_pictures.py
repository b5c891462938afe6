"""The pictures show the current output of the programs."""

from pathlib import Path

from tests.docs.pictures import IN_DARK_TOO, PICTURES, VIEWS, session
from tests.docs.shell import Shell
from tests.docs.shown import ROOT
from tests.generated_files import outdated


def test_the_picture_shows_the_printed_session(shell: Shell, demo: dict[str, str]) -> None:
    made = session(shell, demo)
    assert (PICTURES / "session.svg").read_text() == made, outdated("docs/pictures/session.svg")
    assert "url(http" not in made  # the picture loads nothing from other servers


def test_every_view_is_on_the_page() -> None:
    page = (ROOT / "docs" / "guides" / "inspector.md").read_text()
    shown = {Path(name).stem for name in VIEWS}
    shown |= {f"{view}-dark" for view in IN_DARK_TOO}
    assert all(f"(../pictures/{name}.png)" in page for name in shown)
    assert shown == {path.stem for path in PICTURES.glob("*.png")}
