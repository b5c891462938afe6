"""Where a broker's configuration comes from: files and environments that people already have."""
