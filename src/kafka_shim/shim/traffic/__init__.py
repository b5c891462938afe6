"""Recorded traffic: traces, captures, logs of other brokers, replay, scorecards, least ACLs."""
