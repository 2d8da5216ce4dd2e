"""Games as datasets for supervised learning: recorded games or self-play.

    sources.py   what a row holds, and where rows come from
    files.py     writing and reading, as Parquet or as NumPy's .npz, and the data card

A dataset holds one game with its options. At most one shard is in memory. docs/how-to/training.md is the guide.
"""

from ludodrome.datasets.files import NPZ, PARQUET, Dataset, read, write
from ludodrome.datasets.sources import Recorded, SelfPlay

__all__ = ["NPZ", "PARQUET", "Dataset", "Recorded", "SelfPlay", "read", "write"]
