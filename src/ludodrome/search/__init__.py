"""Game-independent algorithms over a game's kernels.

Alpha-beta, max-n, MCTS and PUCT planning; playouts, perft, batches, and vectorised games with opponents.
``entry_points.py`` compiles them for a game.
"""
