"""Behaviours of Kafka clients that requests show, and whether they are right."""
