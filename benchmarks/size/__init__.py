"""The cost of large numbers of ACLs, topics, groups, connections and records."""
