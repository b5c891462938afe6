"""`python -m kafka_shim` is `kafka-shim`."""

import sys

if not sys.flags.safe_path:  # the current folder is first: a `yaml.py` there is not the library
    del sys.path[0]

from kafka_shim.cli import main

sys.exit(main())
