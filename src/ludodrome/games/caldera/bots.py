"""The levels of Caldera."""

from ludodrome.bots.levels import Level

LEVELS = (
    Level(1, noise=300, attention=0.2),
    Level(1, noise=110, attention=0.5),
    Level(2, width=6, noise=70, attention=0.4),
    Level(2, width=12, noise=25, attention=0.8),
    Level(3, width=16, noise=15, attention=0.5),
    Level(4, nodes=1_200),
    Level(5, nodes=4_500),
)
