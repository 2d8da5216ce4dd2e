"""Numba, set up in one place: decorators, records, bits and random numbers.

A *kernel* is a compiled function that other compiled functions call. An *entry* is a
module-level compiled function that Python calls; it is cached on disk, so that the next
process starts at once. Rules are in the game packages, search algorithms in ``search/``.

With ``NUMBA_DISABLE_JIT=1`` the same functions run as plain Python and give the same answers.
"""

import functools
import hashlib
import struct
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj

from ludodrome import kernel_cache, splitmix

Function = TypeVar("Function", bound=Callable[..., Any])

Record: TypeAlias = Any
"""One state: a record of a game's dtype, read and written by attribute."""
Int: TypeAlias = Any
"""A whole number of machine size in compiled code."""
Array: TypeAlias = np.ndarray[Any, Any]

_config: Any = numba.config
_njit: Any = numba.njit
_make_array: Any = arrayobj.make_array
_get_or_insert_function: Any = cgutils.get_or_insert_function
_get_null_value: Any = cgutils.get_null_value
_alloca_once_value: Any = cgutils.alloca_once_value

COMPILED = not _config.DISABLE_JIT
_setting = threading.Lock()
"""Numba's settings are one for the whole process."""

if COMPILED:
    kernel_cache.hold_while_compiling()


# Decorators


def kernel(function: Function) -> Function:
    """Compile a function that is called from other compiled functions."""
    compiled: Function = _njit(nogil=True, error_model="numpy")(function)
    return compiled


def inline_kernel(function: Function) -> Function:
    """Compile a piece of a large kernel that is inlined into its callers: passing arrays on costs time."""
    compiled: Function = _njit(nogil=True, error_model="numpy", forceinline=True)(function)
    return compiled


def python(function: Function) -> Function:
    """Return a small kernel as plain Python: a direct call would compile it anew in every process."""
    plain: Function = getattr(function, "py_func", function)
    return plain


def kernel_of(owner: Callable[..., Any], inline: bool = False, variant: str = "") -> Callable[[Function], Function]:
    """Compile a function that a factory makes for each game; ``owner`` is one of the game's kernels.

    The game's module becomes part of its name: see the names of compiled functions below. Only compiled
    functions may call it: from Python it crashes the process. ``inline``: it is inlined into its callers, for
    pieces of one large kernel: passing half a dozen arrays on can cost more than the piece itself. ``variant``
    distinguishes the products of a factory that makes several kernels for one game.
    """

    def decorate(function: Function) -> Function:
        function.__qualname__ = f"{owner.__module__}.{function.__name__}{variant}"
        # Python never calls these, so they need no wrappers for it: a third of the time of compilation.
        options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "forceinline": inline}
        compiled: Function = _njit(nogil=True, error_model="numpy", **options)(function)
        return compiled

    return decorate


def entry(function: Function) -> Function:
    """Compile a module-level function that Python calls, and cache the result on disk."""
    return compile_entry(function, kernel_cache.package_folder(Path(function.__code__.co_filename)))


def compile_entry(function: Function, folder: Path | None) -> Function:
    """Compile an entry point of the package in ``folder``; None: do not cache it.

    The cache directory is set around the decorator only: other users of Numba in the
    same process keep their own.
    """
    if not COMPILED:
        return _plain_entry(function)
    directory = None if folder is None else kernel_cache.cache_directory(folder)
    if directory is None:
        return kernel(function)
    with _setting:  # two games may be imported at once, in two threads
        before = _config.CACHE_DIR
        _config.CACHE_DIR = str(directory)
        try:
            compiled: Function = _njit(nogil=True, error_model="numpy", cache=True)(function)
        finally:
            _config.CACHE_DIR = before
    kernel_cache.take_turns(compiled, directory)
    return compiled


def _plain_entry(function: Function) -> Function:
    """Without compilation, unsigned arithmetic wraps as it does in machine code, silently."""

    @functools.wraps(function)
    def plain(*arguments: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*arguments)

    return plain  # type: ignore[return-value]


# The names of compiled functions
#
# A process that loads cached code from several files finds functions by name, and takes the first
# of a name for all. Numba's names are a function's module, its own name, and its argument types; but
# a record type goes by a number that every process hands out anew, and an array in a record goes
# without its shape. So code that two processes have cached could go by one name, and a third would
# run the one for the other. Here the name's part for such a type comes from its whole layout, and
# a factory's products bear the game's name (``kernel_of``).


def _layout_name(layout: Any) -> tuple[str, tuple[int]]:
    digest = hashlib.blake2b(layout.name.encode(), digest_size=7).digest()
    return type(layout).__name__, (int.from_bytes(digest, "little"),)


for _type in (types.Record, types.NestedArray):
    setattr(_type, "mangling_args", property(_layout_name))  # noqa: B010 (mypy knows no such attribute)


# Records

_STRUCT_CODES = {"u1": "B", "i1": "b", "u2": "H", "i2": "h", "u4": "I", "i4": "i", "u8": "Q", "i8": "q"}


def record_dtype(fields: Sequence[tuple[Any, ...]]) -> np.dtype[Any]:
    """A state's dtype: aligned as in C, its size a multiple of eight bytes.

    A record can thus be copied as machine words, see ``as_words``.
    """
    aligned: Any = np.dtype(list(fields), align=True)
    layout: Any = {
        "names": list(aligned.names),
        "formats": [aligned.fields[name][0] for name in aligned.names],
        "offsets": [aligned.fields[name][1] for name in aligned.names],
        "itemsize": -(-aligned.itemsize // 8) * 8,
    }
    return np.dtype((np.record, np.dtype(layout, align=True)))


def new_states(dtype: np.dtype[Any], count: int) -> Any:
    """An array of blank records. Its elements are ``np.record``: attributes work without Numba too."""
    return np.zeros(count, dtype)


def packing(dtype: np.dtype[Any]) -> struct.Struct:
    """The struct that reads and writes one record as flat plain integers, field after field.

    Many times faster from Python than NumPy's own access to the fields of a record.
    """
    form, at = "<", 0
    parts: Any = dtype.fields
    for name in dtype.names or ():
        field, offset = parts[name][:2]
        base, count = field.base, int(np.prod(field.shape, dtype=np.int64))
        form += f"{offset - at}x{count}{_STRUCT_CODES[base.kind + str(base.itemsize)]}"
        at = offset + field.itemsize
    return struct.Struct(f"{form}{dtype.itemsize - at}x")


def packed(dtype: np.dtype[Any], data: bytes) -> Any:
    """An array of one record, from what ``packing`` packed."""
    return np.frombuffer(bytearray(data), dtype)


def as_words(states: Any) -> Array:
    """The same memory as machine words, shape (states, words a state): for copying records."""
    return np.asarray(states).view(np.uint64).reshape(len(states), -1)


@kernel
def copy_state(to: Array, i: int, source: Array, j: int) -> None:
    """Copy record j of one array of words to record i of another of the same dtype."""
    for k in range(to.shape[1]):
        to[i, k] = source[j, k]


# Bits


def _bit_intrinsic(emit: Callable[[Any, Any, Any], Any]) -> Any:
    """An LLVM bit operation on an unsigned integer, as a function that returns an int64."""

    @intrinsic
    def operation(typing: Any, x: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            value = emit(builder, arguments[0], cgutils.false_bit)
            return builder.zext(value, cgutils.intp_t) if x.bitwidth < 64 else value

        return types.int64(x), generate

    return operation


def _plain_lowest(x: Any) -> int:
    """The index of the lowest bit that is set; x is not zero."""
    bits = int(x)
    return (bits & -bits).bit_length() - 1


def _plain_popcount(x: Any) -> int:
    """How many bits are set."""
    return int(x).bit_count()


lowest: Callable[[Any], int]
popcount: Callable[[Any], int]
if COMPILED:
    lowest = _bit_intrinsic(lambda builder, x, no: builder.cttz(x, no))
    popcount = _bit_intrinsic(lambda builder, x, no: builder.ctpop(x))
else:
    lowest, popcount = _plain_lowest, _plain_popcount


# Four numbers at once: Numba does not gather neighbouring stores by itself.

FOUR = np.uint64(0x0001_0001_0001_0001)
"""Times this, a number below 2**16 becomes a word of four of it."""


def fours(rows: Array) -> Array:
    """Rows of int16, their length a multiple of four, as words of four."""
    return np.ascontiguousarray(rows, np.int16).view(np.uint64)


def _plain_store_four(buffer: Array, at: Any, word: Any) -> None:
    """Write a word of four int16 to a buffer of int16, from place ``at`` on."""
    buffer[int(at) : int(at) + 4] = np.array([word], np.uint64).view(np.int16)


@intrinsic
def _compiled_store_four(typing: Any, buffer: Any, at: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = _make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.bitcast(builder.gep(array.data, [arguments[1]]), ir.IntType(64).as_pointer())
        builder.store(arguments[2], place, align=2)
        return context.get_dummy_value()

    return types.void(buffer, at, word), generate


store_four: Any = _compiled_store_four if COMPILED else _plain_store_four


def _plain_store_eight(buffer: Array, at: Any, word: Any) -> None:
    """Write a word of eight uint8 to a contiguous array of uint8, from its place ``at`` on, rows not counted."""
    buffer.reshape(-1)[int(at) : int(at) + 8] = np.array([word], np.uint64).view(np.uint8)


@intrinsic
def _compiled_store_eight(typing: Any, buffer: Any, at: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = _make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.bitcast(builder.gep(array.data, [arguments[1]]), ir.IntType(64).as_pointer())
        builder.store(arguments[2], place, align=1)
        return context.get_dummy_value()

    return types.void(buffer, at, word), generate


store_eight: Any = _compiled_store_eight if COMPILED else _plain_store_eight

SPREAD = np.array([sum((byte >> k & 1) << 8 * k for k in range(8)) for byte in range(256)], np.uint64)
"""eight bits -> a word of eight bytes, each 0 or 1."""


# Many numbers at once: Numba leaves a search for the highest to branches, one number after the other.

LANES = 16


def _plain_highest(numbers: Array, count: Any) -> Any:
    """The highest of the first ``count`` numbers of an array of int32; they are read up to a multiple of LANES."""
    return numbers[: -(-int(count) // LANES) * LANES].max()


@intrinsic
def _compiled_highest(typing: Any, numbers: Any, count: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = _make_array(signature.args[0])(context, builder, arguments[0])
        lanes = ir.VectorType(ir.IntType(32), LANES)
        highest = _get_or_insert_function(
            builder.module, ir.FunctionType(lanes, [lanes, lanes]), f"llvm.smax.v{LANES}i32"
        )
        reduce = _get_or_insert_function(
            builder.module, ir.FunctionType(ir.IntType(32), [lanes]), f"llvm.vector.reduce.smax.v{LANES}i32"
        )
        found = _alloca_once_value(builder, ir.Constant(lanes, [-(1 << 31)] * LANES))
        step, zero = ir.Constant(arguments[1].type, LANES), ir.Constant(arguments[1].type, 0)
        with cgutils.for_range_slice(builder, zero, arguments[1], step) as (at, _):
            place = builder.bitcast(builder.gep(array.data, [at]), lanes.as_pointer())
            builder.store(builder.call(highest, [builder.load(found), builder.load(place, align=4)]), found)
        return builder.call(reduce, [builder.load(found)])

    return types.int32(numbers, count), generate


highest: Any = _compiled_highest if COMPILED else _plain_highest


# Reading ahead: a table much larger than the processor's caches answers ten times faster when it was warned. Of many
# rows it is best warned in one go: finding a row's page takes long, too, and only neighbouring requests overlap.


def _plain_prefetch(table: Array, row: Any) -> None:
    """Have the beginning of a row of a two-dimensional array brought near: it will be read soon."""


@intrinsic
def _compiled_prefetch(typing: Any, table: Any, row: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = _make_array(signature.args[0])(context, builder, arguments[0])
        stride = builder.extract_value(array.strides, 0)
        byte = ir.IntType(8).as_pointer()
        place = builder.gep(builder.bitcast(array.data, byte), [builder.mul(arguments[1], stride)])
        number = ir.IntType(32)
        prefetch = _get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte, number, number, number]), "llvm.prefetch.p0"
        )
        builder.call(prefetch, [place, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(table, row), generate


prefetch: Any = _compiled_prefetch if COMPILED else _plain_prefetch


# Borrowing: compiled functions count the references to every array they pass on, with a locked instruction each time.


def _plain_borrow(array: Array) -> Array:
    """Return the array without reference counting. The caller keeps the array alive as long as it is used."""
    return array


@intrinsic
def _compiled_borrow(typing: Any, array: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        borrow = _make_array(signature.args[0])(context, builder, arguments[0])
        borrow.meminfo = _get_null_value(borrow.meminfo.type)
        borrow.parent = _get_null_value(borrow.parent.type)
        return borrow._getvalue()

    return array(array), generate


borrow: Any = _compiled_borrow if COMPILED else _plain_borrow


# Random numbers: SplitMix64, see ``splitmix.py``. Game number i of a seed is the same on every thread.

GOLDEN = np.uint64(splitmix.GOLDEN)
_FACTOR_1, _FACTOR_2 = (np.uint64(factor) for factor in splitmix.FACTORS)
_SHIFT_1, _SHIFT_2, _SHIFT_3 = (np.uint64(shift) for shift in splitmix.SHIFTS)
_32 = np.uint64(32)


@kernel
def mix(x: Any) -> Any:
    """A uint64 whose every bit depends on every bit of x."""
    x = (x ^ (x >> _SHIFT_1)) * _FACTOR_1
    x = (x ^ (x >> _SHIFT_2)) * _FACTOR_2
    return x ^ (x >> _SHIFT_3)


@kernel
def stream(seed: Any, index: int) -> Any:
    """The start of the random stream number ``index`` of a seed."""
    return mix(mix(seed) + np.uint64(index) * GOLDEN)


@kernel
def below(x: Any, n: Int) -> Int:
    """An integer in 0..n-1 from the high half of the random word x; n < 2**31."""
    return np.int64(((x >> _32) * np.uint64(n)) >> _32)
