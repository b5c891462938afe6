"""The forms that a scorecard is printed in."""

OUTPUTS = ("text", "json", "junit", "markdown")
