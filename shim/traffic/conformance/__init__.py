"""Which behaviours of a Kafka client can be seen on the wire, and whether they are right."""
