"""Persistence: the state of a cluster in an SQLite file (docs/guides/persistence.md).

Stores report their changes. Changes are written at the end of the event loop's turn, and
responses wait for that. Nothing here is imported by a broker without `--data-dir`.
"""
