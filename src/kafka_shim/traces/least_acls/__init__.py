"""The smallest set of ACLs for a program, learned by running it with everything allowed."""
