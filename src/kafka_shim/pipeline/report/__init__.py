"""Output of results: tables, JSON, CSV, Parquet, and a page with charts."""
