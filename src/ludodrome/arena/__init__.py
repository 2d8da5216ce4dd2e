"""The arena: games between bots, judged, timed, recorded, counted. It decides nothing about the rules."""
