"""A pass-through in front of a real cluster that records what clients do there."""
