"""Imports logs of brokers and proxies into traces, and exports traces in their formats."""
