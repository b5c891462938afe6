"""What several handlers share."""
