"""Rules over properties: which hazards stand on a service, and how sure that is."""
