"""Read traces and lakes in this process, without Java."""
