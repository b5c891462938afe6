"""Reads a broker's configuration from files and environments that users already have."""
