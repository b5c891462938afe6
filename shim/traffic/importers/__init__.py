"""Traces from what others wrote (a broker's logs), and traces in their spelling."""
