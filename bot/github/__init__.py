"""The GitHub API: credentials, requests, limits, caches, and payloads of webhooks. It knows nothing of engines."""
