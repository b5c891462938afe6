"""Charts as inline SVG: bars by name, columns and lines over time.

Screen readers get each chart as one image with a summary, and its values as a table below it.
Series differ in hatching, dashes and markers, not only in colour.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from html import escape
from itertools import count
from typing import Any

import msgspec

from kafka_shim.pipeline.intervals import axis_tick_values, round_up_seconds
from kafka_shim.policy.formats.trace_rule import parse_acl_rule

WIDTH, LEFT, RIGHT, TOP, PLOT_HEIGHT = 760, 70, 40, 14, 200
BAR_HEIGHT, BAR_PERCENT_MAX, NAME_CHARACTERS = 44, 75, 40
BARS_MAX = 15
SERIES_MAX = 5
OTHERS = "others"
UNKNOWN = "unknown"
_DASHES = ("", "6 3", "2 3", "8 3 2 3", "12 4", "1 4")
_NUMBERS = count(1)

Bar = tuple[str, float]
Point = tuple[datetime, str, float]
"""When, which series, how much."""
RESOURCE = ("operation", "resource_type", "resource_name")


class Chart(msgspec.Struct, frozen=True):
    """A chart: its title, a summary in words, the content and height of its image, its values.

    Bars are as wide as the page, also on a phone; plots over time are scaled or scrolled.
    """

    title: str
    summary: str
    svg: str
    height: int
    column_headings: tuple[str, ...]
    table_rows: Sequence[tuple[str, ...]]
    is_as_wide_as_page: bool = False


def chart_html(chart: Chart) -> str:
    """Return the chart as HTML; the ids of its parts are unique on the page."""
    name = f"chart-{next(_NUMBERS)}"
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in chart.column_headings)
    rows = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(f"<td>{escape(value)}</td>" for value in row[1:])
        + "</tr>"
        for row in chart.table_rows
    )
    title = escape(chart.title)
    size = f'viewBox="0 0 {WIDTH} {chart.height}"'
    if chart.is_as_wide_as_page:
        size = f'class="bars" height="{chart.height}"'
    return (
        f'<figure><figcaption id="{name}">{title}</figcaption>'
        f'<div class="wide" tabindex="0" role="region" aria-label="Plot: {title}">'
        f'<svg {size} role="img"'
        f' aria-labelledby="{name}" aria-describedby="{name}-text">'
        f'<desc id="{name}-text">{escape(chart.summary)}</desc>{chart.svg}</svg></div>'
        f"<details><summary>Values of: {title}</summary>"
        f'<div class="wide" tabindex="0" role="region" aria-label="Values of: {title}">'
        f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
        "</details></figure>"
    )


def largest_bars_chart(title: str, unit: str, values: Sequence[Bar]) -> Chart:
    """Return horizontal bars, the longest first; bars after the fifteenth are summed as others.

    The name is above its bar, and the value behind it.
    """
    ordered = sorted(values, key=lambda bar: (-bar[1], bar[0]))
    rest = ordered[BARS_MAX:]
    shown = ordered[:BARS_MAX]
    if rest:
        shown.append((f"{len(rest)} {OTHERS}", sum(value for _, value in rest)))
    largest = max((value for _, value in shown), default=1) or 1
    parts = []
    for at, (name, value) in enumerate(shown):
        y, percent = at * BAR_HEIGHT, BAR_PERCENT_MAX * value / largest
        parts.append(
            f'<text x="0" y="{y + 16}">{escape(_shorten_in_middle(name))}</text>'
            f'<rect x="0" y="{y + 22}" width="{percent:.2f}%" height="{BAR_HEIGHT - 28}"'
            f' class="s0"><title>{escape(name)}: {format_number(value)} {unit}</title></rect>'
            f'<text x="{percent:.2f}%" dx="6" y="{y + 35}">{format_number(value)}</text>'
        )
    heads = ("", unit)
    table = [(name, format_number(value)) for name, value in ordered]
    summary = _join_series_texts([f"{name} {format_number(value)}" for name, value in shown], unit)
    height = len(shown) * BAR_HEIGHT + 4
    return Chart(title, summary, "".join(parts), height, heads, table, is_as_wide_as_page=True)


def stacked_column_chart(title: str, unit: str, points: Sequence[Point], step_s: int) -> Chart:
    """Return stacked columns over time, each as wide as the step."""
    series, by_time = _largest_series_by_time(points)
    stacks = [(when, sum(values.values())) for when, values in by_time.items()]
    plot = _PlotArea(
        list(by_time), timedelta(seconds=step_s), max((v for _, v in stacks), default=0)
    )
    parts = [plot.axes_svg(unit)]
    width = max(1.0, plot.x_position(plot.first + plot.step) - plot.x_position(plot.first) - 1)
    for when, values in by_time.items():
        below = 0.0
        for at, name in enumerate(series):
            if value := values.get(name, 0):
                y, height = (
                    plot.y_position(below + value),
                    plot.y_position(below) - plot.y_position(below + value),
                )
                below += value
                parts.append(
                    f'<rect x="{plot.x_position(when):.1f}" y="{y:.1f}" width="{width:.1f}"'
                    f' height="{height:.1f}" class="s{at}">'
                    f"<title>{_format_time(when)}, {escape(name)}: {format_number(value)} {unit}"
                    "</title></rect>"
                )
    return _time_chart(title, unit, series, by_time, parts, is_stacked=True)


def largest_series_line_chart(title: str, unit: str, points: Sequence[Point], step_s: int) -> Chart:
    """Return a line with markers for each series over time."""
    series, by_time = _largest_series_by_time(points, sum_others=False)
    largest = max((value for values in by_time.values() for value in values.values()), default=0)
    plot = _PlotArea(list(by_time), timedelta(seconds=step_s), largest)
    parts = [plot.axes_svg(unit)]
    for at, name in enumerate(series):
        mine = [(when, values[name]) for when, values in by_time.items() if name in values]
        middle = [
            (plot.x_position(when + plot.step / 2), plot.y_position(value)) for when, value in mine
        ]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in middle)
        parts.append(
            f'<polyline points="{path}" class="line l{at}" stroke-dasharray="{_DASHES[at]}"/>'
            + "".join(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" class="s{at}">'
                f"<title>{_format_time(when)}, {escape(name)}: {format_number(value)} {unit}"
                "</title></circle>"
                for (x, y), (when, value) in zip(middle, mine, strict=True)
            )
        )
    return _time_chart(title, unit, series, by_time, parts, is_stacked=False)


class _PlotArea:
    """Maps times and values to positions in the image."""

    def __init__(self, times: list[datetime], step: timedelta, largest: float) -> None:
        self.step = step
        self.first = min(times, default=datetime(1970, 1, 1, tzinfo=UTC))
        self._span = max(times, default=self.first) + step - self.first
        self._ticks = axis_tick_values(largest)

    def x_position(self, when: datetime) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * ((when - self.first) / self._span)

    def y_position(self, value: float) -> float:
        return TOP + PLOT_HEIGHT * (1 - value / self._ticks[-1])

    def axes_svg(self, unit: str) -> str:
        parts = []
        for value in self._ticks:
            y = self.y_position(value)
            parts.append(
                f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>'
                f'<text x="{LEFT - 8}" y="{y + 4:.1f}" class="end">{format_number(value)}</text>'
            )
        every = timedelta(seconds=round_up_seconds(self._span.total_seconds() / 6))
        when = datetime.fromtimestamp(
            self.first.timestamp() // every.total_seconds() * every.total_seconds(), UTC
        )
        while when <= self.first + self._span:
            if when >= self.first:
                x = self.x_position(when)
                parts.append(
                    f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP + PLOT_HEIGHT}"'
                    f' y2="{TOP + PLOT_HEIGHT + 5}" class="tick"/>'
                    f'<text x="{x:.1f}" y="{TOP + PLOT_HEIGHT + 19}" class="middle">'
                    f"{_tick_label(when, every)}</text>"
                )
            when += every
        day = f"{self.first:%Y-%m-%d} UTC"
        return "".join(parts) + (
            f'<text x="{LEFT}" y="{TOP + PLOT_HEIGHT + 38}">from {day}; {escape(unit)}</text>'
        )


def _time_chart(
    title: str,
    unit: str,
    series: list[str],
    by_time: dict[datetime, dict[str, float]],
    plot_svg_parts: list[str],
    *,
    is_stacked: bool,
) -> Chart:
    """Return a chart over time with legend, table and summary."""
    y = TOP + PLOT_HEIGHT + 60
    for at, name in enumerate(series):
        x = LEFT + (at % 3) * 225
        row = y + (at // 3) * 20
        plot_svg_parts.append(
            _legend_symbol_svg(at, x, row, is_line=not is_stacked)
            + f'<text x="{x + 32}" y="{row}">{escape(_shorten_in_middle(name, 22))}</text>'
        )
    table = [
        (
            _format_time(when),
            *(format_number(values[name]) if name in values else "" for name in series),
        )
        for when, values in by_time.items()
    ]
    said = []
    for name in series:
        mine = [values[name] for values in by_time.values() if name in values]
        said.append(
            f"{name} {format_number(sum(mine))}" if is_stacked else f"{name} up to {max(mine)}"
        )
    height = y + (max(0, len(series) - 1) // 3) * 20 + 12
    return Chart(
        title,
        _join_series_texts(said, unit),
        "".join(plot_svg_parts),
        height,
        ("time", *series),
        table,
    )


def _legend_symbol_svg(series_number: int, x: int, y: int, *, is_line: bool) -> str:
    """Return a legend entry: the look of a series."""
    if is_line:
        return (
            f'<line x1="{x}" x2="{x + 26}" y1="{y - 4}" y2="{y - 4}" class="line l{series_number}"'
            f' stroke-dasharray="{_DASHES[series_number]}"/>'
        )
    return f'<rect x="{x + 10}" y="{y - 10}" width="14" height="12" class="s{series_number}"/>'


def _largest_series_by_time(
    points: Sequence[Point], *, sum_others: bool = True
) -> tuple[list[str], dict[datetime, dict[str, float]]]:
    """Return the series, largest first, with their values by time.

    Series after the fifth are summed as others, or left out if a sum has no meaning.
    """
    totals: dict[str, float] = {}
    for _, name, value in points:
        totals[name] = totals.get(name, 0) + value
    ordered = sorted(totals, key=lambda name: (-totals[name], name))
    kept = ordered[:SERIES_MAX]
    found: dict[datetime, dict[str, float]] = {}
    for when, name, value in sorted(points, key=lambda point: point[0]):
        values = found.setdefault(when.astimezone(UTC), {})
        if name in kept:
            values[name] = values.get(name, 0) + value
        elif sum_others:
            values[OTHERS] = values.get(OTHERS, 0) + value
    return kept + [OTHERS] * (sum_others and len(ordered) > SERIES_MAX), found


def format_number(value: float) -> str:
    """Format a number: `1234567` as `1 234 567`, with at most three decimals."""
    return f"{round(value, 3):,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def _join_series_texts(series_texts: Sequence[str], unit: str) -> str:
    return f"{unit}: {', '.join(series_texts)}" if series_texts else "nothing"


def _shorten_in_middle(text: str, longest: int = NAME_CHARACTERS) -> str:
    """Shorten a name in its middle, since long names often differ only at the end."""
    if len(text) <= longest:
        return text
    end = longest // 2
    return f"{text[: longest - end - 1]}\N{HORIZONTAL ELLIPSIS}{text[-end:]}"


def _format_time(when: datetime) -> str:
    return f"{when:%Y-%m-%d %H:%M:%S}"


def _tick_label(when: datetime, every: timedelta) -> str:
    if every >= timedelta(days=1):
        return f"{when:%m-%d}" if every < timedelta(days=360) else f"{when:%Y-%m}"
    return f"{when:%H:%M}" if every >= timedelta(minutes=1) else f"{when:%H:%M:%S}"


def sum_by_columns(
    rows: Iterable[dict[str, Any]], *names: str, value_column: str = "requests"
) -> list[Bar]:
    """Sum the column `value` by the values of the columns `names`, `unknown` if all are empty;
    count rows if `value` is empty.
    """
    sums: dict[str, float] = {}
    for row in rows:
        name = " ".join(str(row[name]) for name in names if row[name] is not None).strip()
        name = name or UNKNOWN
        sums[name] = sums.get(name, 0) + (row[value_column] if value_column else 1)
    return list(sums.items())


def count_acls_by_principal(rows: Iterable[dict[str, Any]]) -> list[Bar]:
    """Count the ACLs in the column `acl` by their principal."""
    principals = [acl.principal for row in rows if (acl := parse_acl_rule(row["acl"])) is not None]
    return [(name, principals.count(name)) for name in dict.fromkeys(principals)]
