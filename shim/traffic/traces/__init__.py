"""What is recorded of connections, ours and those between others, and how it reads."""
