"""The formats of results about clients, and `kafka-shim conformance report`: a page of reports."""

import argparse

FORMS = ("html", "baseline")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Read reports that `kafka-shim conformance suite --format json` wrote, and print one page\n"
        "with all of them, without other files (html), or a baseline of the cases that make a run\n"
        "fail (baseline)."
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="JSON report of a client")
    parser.add_argument(
        "--format",
        choices=FORMS,
        default=FORMS[0],
        help="Format of the output (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> int:
    from kafka_shim.conformance.baseline import format_baseline
    from kafka_shim.conformance.report import as_html, read_report

    form = as_html if args.format == "html" else format_baseline
    print(form([read_report(file) for file in args.files]), end="")
    return 0


OUTPUTS = ("text", "json", "junit", "markdown")
