"""The jobs: each one file, DataFrame to DataFrame."""
