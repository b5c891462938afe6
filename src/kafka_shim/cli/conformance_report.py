"""`kafka-shim conformance report`: make a page of reports of `conformance suite --format json`."""

import argparse

PAGES = ("html", "badge")
BASELINE = "baseline"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Read reports that `kafka-shim conformance suite --format json` wrote, and print one page\n"
        "with all of them, without other files (html), the share of passed cases as an SVG\n"
        "for a README (badge), or a baseline of the cases that make a run fail (baseline)."
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="JSON report of a client")
    parser.add_argument(
        "--format",
        choices=(*PAGES, BASELINE),
        default=PAGES[0],
        help=f"Format of the output (default: {PAGES[0]})",
    )


def run(args: argparse.Namespace) -> int:
    from kafka_shim.conformance.baseline import as_baseline
    from kafka_shim.conformance.html_report import PAGE_FORMS
    from kafka_shim.conformance.report import read_report

    formats = {**PAGE_FORMS, BASELINE: as_baseline}
    print(formats[args.format]([read_report(file) for file in args.files]), end="")
    return 0
