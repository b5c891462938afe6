"""Every picture of the inspector is on its page."""

from pathlib import Path

from tests.docs.pictures import IN_DARK_TOO, PICTURES, VIEWS
from tests.docs.shown import ROOT


def test_every_view_is_on_the_page() -> None:
    page = (ROOT / "docs" / "guides" / "inspector.md").read_text()
    shown = {Path(name).stem for name in VIEWS}
    shown |= {f"{view}-dark" for view in IN_DARK_TOO}
    assert all(f"(../pictures/{name}.png)" in page for name in shown)
    assert shown == {path.stem for path in PICTURES.glob("*.png")}
