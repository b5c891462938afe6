"""Settings of clients that several cases use, by Kafka's names."""

from collections.abc import Mapping
from typing import Final

IDEMPOTENT_PRODUCER: Final[Mapping[str, str]] = {"enable_idempotence": "true"}
TRANSACTIONAL_PRODUCER: Final[Mapping[str, str]] = {"transactional_id": "tx", **IDEMPOTENT_PRODUCER}
