"""What a handler sees of a request: who sent it, what it may do, and where it came."""
