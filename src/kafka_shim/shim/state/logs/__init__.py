"""Logs of partitions: batches, segments, producers, retention and compaction."""
