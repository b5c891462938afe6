"""The stages that Spark logs, wherever it runs."""

from pathlib import Path

STAGES_MAX = 20
"""How many stages a question may take."""


def logging_settings(folder: Path) -> dict[str, str]:
    """Return the settings with which Spark logs its events to a folder."""
    folder.mkdir(exist_ok=True)
    log = {"dir": folder.as_uri(), "enabled": "true", "compress": "false"}
    return {f"spark.eventLog.{name}": value for name, value in log.items()}


def logged_stages(folder: Path) -> int:
    """Return the number of stages that were completed."""
    texts = (path.read_text() for path in folder.rglob("*") if path.is_file())
    return sum(text.count('{"Event":"SparkListenerStageCompleted"') for text in texts)
