"""Share partitions (KIP-932): the states of their records, and the members that acquired them."""
