"""Attacks that once worked, each under the number of its point in the review."""
