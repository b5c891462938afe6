"""Kafka's message definitions, as facts."""
