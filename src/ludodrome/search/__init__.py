"""Algorithms that take a game's kernels and know no game: playouts, perft, batches."""
