"""The ladder: matchmaking, live ratings, and the process that plays. Bots that are entered play on their own."""
