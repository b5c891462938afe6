"""What large numbers of ACLs, topics, groups, connections and records cost."""
