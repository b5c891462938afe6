"""Transactions: their states, their log and their markers."""
