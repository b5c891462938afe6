"""The fewest ACLs: for observed accesses, and for what other ACLs decide."""
