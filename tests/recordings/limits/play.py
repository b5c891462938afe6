"""Requests at and above a limit; recordings have the number of rows with each error code."""

from collections import Counter
from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.codes import codes_of
from tests.recordings.groups.modern_play import ModernPlay
from tests.recordings.groups.play import PATIENCE_MS


class LimitsPlay(ModernPlay):
    """A play that keeps the error codes of a response, since there may be thousands of rows."""

    patience_ms = 4 * PATIENCE_MS

    def codes(
        self, label: str, api: ApiKey, version: int, request: Any, connection: str = "a"
    ) -> None:
        """Send a request, if the release has the API, and record its error codes."""
        if not self.has(api):
            return
        response = self.ask(api, version, request, connection)
        found = response if isinstance(response, str) else counted(response)
        self.steps.append((label, found))


def counted(response: Any) -> dict[str, int]:
    """Return the number of occurrences of each error code in a response."""
    return {str(code): count for code, count in sorted(Counter(codes_of(response)).items())}
