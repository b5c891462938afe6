"""Replays a trace against a broker and compares its answers with the recorded ones."""
