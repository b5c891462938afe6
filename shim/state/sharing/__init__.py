"""Share partitions (KIP-932): what their records come to, and who has acquired them."""
