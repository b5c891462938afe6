"""Traces: what clients sent, what they were answered, and which accesses were decided.

The format is documented in docs/trace-format.md; this package is its only reader and writer.
"""
