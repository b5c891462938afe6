"""What only Spark needs: the session, traces as its sources, lakes, and the accesses observed."""
