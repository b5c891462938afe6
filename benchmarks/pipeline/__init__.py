"""The pipeline on Spark; see `__main__`."""
