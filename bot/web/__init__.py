"""The face towards GitHub and browsers: webhooks in, status and rule pages out."""
