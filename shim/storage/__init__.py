"""Data that stays: the state of a cluster in an SQLite file (docs/data.md).

Stores note what changed, and a change is written at the end of the turn of the event loop in which
it was made. Answers wait for that. Nothing here is imported by a broker without `--data-dir`.
"""
