"""A client to which quotas apply, and the names of the quotas of its requests.

Apart from the throttles, which a broker without quotas does not import.
"""

from typing import Final, NamedTuple

PRODUCED: Final = "producer_byte_rate"
FETCHED: Final = "consumer_byte_rate"
BUSY: Final = "request_percentage"
MUTATIONS: Final = "controller_mutation_rate"


class QuotaClient(NamedTuple):
    """A client to which quotas apply; its name is the principal's, without the type."""

    principal_name: str
    client_id: str
