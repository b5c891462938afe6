"""Write the pages of the reference that are made from the code: see `PAGES`."""

from tests.docs.generated_pages.pages import PAGES
from tests.docs.shown import ROOT

if __name__ == "__main__":
    for path, text in PAGES.items():
        (ROOT / path).write_text(text(), encoding="utf-8")
