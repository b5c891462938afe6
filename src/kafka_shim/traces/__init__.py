"""Recording of the shim's and others' connections, and reading of traces."""
