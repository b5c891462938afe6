"""What the APIs of share groups have in common (KIP-932)."""
