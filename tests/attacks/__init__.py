"""Attacks on a running server: each was possible once."""
