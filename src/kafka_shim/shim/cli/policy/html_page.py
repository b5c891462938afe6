"""A page of HTML with a table, without references to other files."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

_STYLE: Final = """\
table { border-collapse: collapse; font: 14px sans-serif; }
th, td { border: 1px solid #bbb; padding: 4px 8px; text-align: left; vertical-align: top; }
thead th { background: #eee; position: sticky; top: 0; }
i { color: #777; }
"""


def html_page_with_table(headings: Sequence[str], html_rows: Iterable[str], note: str) -> str:
    """Return the page; headings and note are text, rows are HTML."""
    heads = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{row}</tr>\n" for row in html_rows)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>Kafka ACLs</title>\n<style>\n{_STYLE}</style></head><body>\n<table>\n"
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}</tbody></table>\n"
        f"<p><i>{escape(note)}</i></p></body></html>\n"
    )
