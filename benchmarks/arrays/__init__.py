"""The cost of large arrays in every API: `python -m benchmarks.arrays`."""
