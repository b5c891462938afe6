"""Groups of every protocol: their members, their assignments, their offsets."""
