"""Policies: what a set of ACLs decides for all names, compared, expected, judged and changed."""
