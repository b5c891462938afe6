"""The Kafka client of the command line and the fixture."""
