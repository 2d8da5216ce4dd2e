"""Games as datasets for supervised learning: recorded games, or games that a search plays for the purpose.

    columns.py   what a row holds
    sources.py   where rows come from
    shards.py    rows in files, as Parquet or as NumPy's .npz, and back
    cards.py     the data card, README.md of a dataset's folder

A dataset is of one game with its options. However large it is, no more than one shard is in memory.
docs/how-to/training.md says how to make one and how to read it.
"""

from ludodrome.datasets.files import NPZ, PARQUET, Dataset, read, write
from ludodrome.datasets.sources import Recorded, SelfPlay

__all__ = ["NPZ", "PARQUET", "Dataset", "Recorded", "SelfPlay", "read", "write"]
