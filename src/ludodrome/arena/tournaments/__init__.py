"""Tournaments: plans, formats, rounds, standings and reports."""
