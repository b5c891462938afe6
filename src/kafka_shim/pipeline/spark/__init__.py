"""Code for Spark: the session, traces as data sources, lakes, observed accesses."""
