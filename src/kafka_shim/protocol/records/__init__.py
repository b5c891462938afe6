"""Record batches of format 2, message sets of formats 0 and 1, and their compression."""
