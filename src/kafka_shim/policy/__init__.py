"""Policies: compare, test, check and change sets of ACLs, exactly for all names."""
