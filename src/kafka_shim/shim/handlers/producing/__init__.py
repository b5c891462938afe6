"""What Produce does with the batches of a request."""
