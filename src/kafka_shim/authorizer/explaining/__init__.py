"""Explain decisions, and list who may do something."""
