"""How Kafka releases differ in behaviour, as named facts; see `facts.py`."""
