"""`kafka-shim conformance report`: what `conformance suite --to json` wrote, in other forms."""

import argparse

PAGES = ("html", "badge")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Shows reports that `kafka-shim conformance suite --to json` wrote: all on one page that"
        " needs no other file (html), or the share of passed cases as an SVG for a README (badge)."
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a client's report, as JSON")
    parser.add_argument("--to", choices=PAGES, default=PAGES[0], help=f"default: {PAGES[0]}")


def run(args: argparse.Namespace) -> int:
    from kafka_shim.shim.traffic.suite.page_forms import PAGE_FORMS
    from kafka_shim.shim.traffic.suite.report import read_report

    print(PAGE_FORMS[args.to]([read_report(file) for file in args.files]), end="")
    return 0
