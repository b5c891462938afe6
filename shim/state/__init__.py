"""What the cluster holds; knows nothing of handlers or connections."""
