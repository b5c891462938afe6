"""Findings for people and programs: tables, JSON, CSV, Parquet, and a page with plots."""
