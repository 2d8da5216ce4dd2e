"""Regression tests of attacks, named after the points of the security review."""
