"""Test vectors: what real brokers of each release answered, as files that run on any broker."""
