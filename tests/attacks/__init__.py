"""Attacks that once succeeded, or would: each must fail."""
