"""Quotas of clients and the throttling that they cause."""
