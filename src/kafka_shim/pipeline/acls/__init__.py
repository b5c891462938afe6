"""Decisions of ACL sets about observed accesses, and smallest ACL sets; pure code for workers."""
