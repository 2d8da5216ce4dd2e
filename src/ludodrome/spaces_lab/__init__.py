"""The laboratory of spaces: files of boards, the board builder, tests of boards and their sessions, saved states.

``games/spaces`` computes, ``cli/spaces`` prints.
"""
