"""Matches: openings, schedules and the workers that play them."""
