"""Reads and writes traces: requests, responses and decisions.

docs/reference/trace-format.md documents the format. Only this package reads and writes it.
"""
