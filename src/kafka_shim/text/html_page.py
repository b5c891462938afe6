"""Pages of HTML without references to other files."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import Final

_STYLE: Final = """\
table { border-collapse: collapse; font: 14px sans-serif; }
th, td { border: 1px solid #bbb; padding: 4px 8px; text-align: left; vertical-align: top; }
thead th { background: #eee; position: sticky; top: 0; }
i { color: #777; }
"""


def page_start_pattern(title: str) -> str:
    """Return the pattern with which a page of that title begins, for `check_output_file`."""
    return rf"(?si)<!doctype html>.{{0,400}}?<title>{re.escape(escape(title))}"


def html_document(title: str, style: str, body_html: str) -> str:
    """Return the page, which loads nothing and runs nothing."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}" />\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1" />\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style></head>\n<body>\n"
        f"{body_html}</body></html>\n"
    )


def html_page_with_table(
    title: str,
    headings: Sequence[str],
    html_rows: Iterable[str],
    note: str,
    lists: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> str:
    """Return the page; rows are HTML, everything else is text. Empty lists are left out."""
    heads = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{row}</tr>\n" for row in html_rows)
    items = {
        name: "".join(f"<li>{escape(line)}</li>" for line in lines)
        for name, lines in lists.items()
        if lines
    }
    lists_html = "".join(
        f"<h2>{escape(name)}</h2>\n<ul>{each}</ul>\n" for name, each in items.items()
    )
    return html_document(
        title,
        _STYLE,
        f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}</tbody></table>\n"
        f"<p><i>{escape(note)}</i></p>\n{lists_html}",
    )
