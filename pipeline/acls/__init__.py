"""What ACL sets say about observed accesses, and which sets would do: pure, run in the workers."""
