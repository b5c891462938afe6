"""The output formats of a scorecard."""

OUTPUTS = ("text", "json", "junit", "markdown")
