"""The weights of learned evaluations: read from a game's package or from a file, on first use.

A file is NumPy's ``.npz`` with the arrays of ``search.network.NetworkWeights``, integers only. ``network.npz`` in a
game's package is the network that ``expert`` and analysis use.
"""

import zipfile
from functools import lru_cache
from pathlib import Path

import numpy as np

from ludodrome.game import Game
from ludodrome.game_spec import Network
from ludodrome.games import find, package_folder
from ludodrome.jit import Array
from ludodrome.search.network import ACTIVE, NetworkWeights
from ludodrome.search.symmetry import SYMMETRIES

FILE = "network.npz"
NONE, SHIPPED = "none", "game"
"""The parameter ``network`` of a bot: the evaluator, the network in the game's package; anything else is a file."""
MAX_BYTES = 4 << 20
MAX_FILTERS = 256
MAX_SCALE = 1000
_DTYPES = {
    "weights": np.int16,
    "bias": np.int16,
    "out": np.int16,
    "out_bias": np.int32,
    "share": np.int32,
    "scale": np.int32,
}


def network_weights(game: Game, choice: str = SHIPPED) -> NetworkWeights | None:
    """The weights that ``choice`` names; None if that is the evaluator, or the game ships no network."""
    if choice == NONE or (choice == SHIPPED and game.network is None):
        return None
    if game.network is None:
        raise ValueError(f"this game of {game.id} has no network: leave the parameter network out")
    path = shipped_file(game.id) if choice == SHIPPED else Path(choice)
    if choice == SHIPPED and not path.is_file():
        return None
    found = _read(path, path.stat().st_mtime_ns if path.is_file() else 0)
    if fault := _fault(found, game.network):
        raise ValueError(f"{path} is not a network of {game.id}: {fault}")
    return found


def shipped_file(game_id: str) -> Path:
    """Where a game's package keeps its network."""
    return package_folder(find(game_id).module) / FILE


@lru_cache(maxsize=16)
def _read(path: Path, changed: int) -> NetworkWeights:
    """Read a file; ``changed`` is its time of change."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise OSError(f"larger than {MAX_BYTES:,} bytes")
        with np.load(path, allow_pickle=False) as arrays:
            return NetworkWeights(*(arrays[name] for name in NetworkWeights._fields))
    except (OSError, KeyError, ValueError, zipfile.BadZipFile, EOFError) as error:
        raise ValueError(f"{path} is not a network: it must be a file that `ludodrome network train` wrote") from error


def _fault(weights: NetworkWeights, network: Network) -> str:
    """Why these arrays cannot be the game's network; empty if they can."""
    filters = weights.bias.size
    shapes = {
        "weights": (network.num_features, filters),
        "bias": (filters,),
        "out": (network.num_buckets, 2, filters),
        "out_bias": (network.num_buckets,),
        "share": (network.num_buckets,),
        "scale": (1,),
    }
    if not 1 <= filters <= MAX_FILTERS:
        return f"it has {filters} filters, not 1 to {MAX_FILTERS}"
    for name, shape in shapes.items():
        array: Array = getattr(weights, name)
        if array.shape != shape or array.dtype != _DTYPES[name]:
            return f"{name} has shape {array.shape} and type {array.dtype}, not {shape} and {np.dtype(_DTYPES[name])}"
    if not 1 <= weights.scale[0] <= MAX_SCALE:
        return f"its scale is {weights.scale[0]}, not 1 to {MAX_SCALE}"
    if overflows(weights, network.max_active):
        return "its weights are so large that sums overflow"
    return ""


def overflows(weights: NetworkWeights, max_active: int) -> bool:
    """Whether a sum of the hidden layer could leave 16 bits, one of the output 32 bits, or a share is absurd."""
    largest = np.sort(np.abs(weights.weights.astype(np.int64)), axis=0)[-max_active:].sum(axis=0)
    outputs = np.abs(weights.out.astype(np.int64)).sum(axis=(1, 2)) * SYMMETRIES * ACTIVE
    sums = largest + np.abs(weights.bias.astype(np.int64))
    shares = np.abs(weights.share.astype(np.int64))
    return bool((sums >= 1 << 15).any() or (outputs >= 1 << 31).any() or (shares >= 1 << 15).any())
