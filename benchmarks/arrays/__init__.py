"""What large arrays cost, of every API: `python -m benchmarks.arrays`."""
