"""The ladder: bots that are entered play on by themselves. Matchmaking, live ratings, and the process that plays."""
