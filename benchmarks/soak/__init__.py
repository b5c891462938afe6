"""A broker under mixed load for half an hour: `python -m benchmarks.soak`."""
