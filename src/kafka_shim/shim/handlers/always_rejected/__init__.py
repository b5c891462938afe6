"""Handlers of requests that are checked and then always rejected; they change nothing."""
