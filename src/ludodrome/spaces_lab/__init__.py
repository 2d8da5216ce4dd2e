"""The spaces laboratory: what its commands keep in files, and the bench on which a board is built.

Whatever is only computed is in ``games/spaces``; what is shown is in ``cli``.
"""
