"""A proxy in front of a real cluster that records what clients send."""
