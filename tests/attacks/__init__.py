"""Attacks that succeeded once: each has a test that failed then."""
