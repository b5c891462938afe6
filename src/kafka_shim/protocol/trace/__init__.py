"""Reads and writes traces: requests, responses and decisions.

The format is documented in docs/trace-format.md; this package is its only reader and writer.
"""
