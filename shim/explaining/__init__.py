"""Why a decision came out as it did, and who may do what."""
