"""The laboratory of spaces: files of boards, saved rounds and solver progress, and the board builder.

``games/spaces`` computes, ``cli/spaces`` prints.
"""
