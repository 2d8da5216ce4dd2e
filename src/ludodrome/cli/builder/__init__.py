"""The terminal application that builds a board of spaces. It draws and listens; ``lab/bench.py`` does the work."""
