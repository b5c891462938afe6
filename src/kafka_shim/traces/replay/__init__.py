"""Replays a trace to a broker and compares its responses with the recorded ones."""
