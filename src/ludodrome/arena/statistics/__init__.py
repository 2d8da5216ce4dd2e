"""What results say about players: scores of a match, ratings of many, tests that stop by themselves. Pure numbers."""
