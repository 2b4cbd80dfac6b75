"""Which values the seams of a service can take, and what then starts."""
