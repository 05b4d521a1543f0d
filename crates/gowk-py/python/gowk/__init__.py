"""Is it in the set? Filters that answer "surely not" or "maybe", from 10 bits a key.

>>> import gowk
>>> seen = gowk.BlockedBloom(items=1_000_000, fpp=0.01)
>>> seen.add("10.0.0.1")
True
>>> "10.0.0.1" in seen
True
>>> seen.update(["a", "b", "c"])
>>> seen.contains_many(["a", "b"]).tolist()
[True, True]
"""

from ._gowk import (
    BinaryFuse,
    Bitmap,
    BlockedBloom,
    Bloom,
    Choice,
    CountingBloom,
    CountMin,
    Cuckoo,
    Filter,
    ForeignFilter,
    FormatError,
    FullError,
    Heavy,
    IntegerSet,
    MergeError,
    MutableFilter,
    ParamsError,
    RangeError,
    ReadOnlyError,
    RoaringSet,
    ScalableBloom,
    SplitBlockBloom,
    Stats,
    TopK,
    TwoBitMap,
    Window,
    __version__,
    from_bytes,
    load,
    open,
    plan,
)
from .jobs import distinct, intersect, once, subtract, topk, union

__all__ = [
    "BinaryFuse",
    "Bitmap",
    "BlockedBloom",
    "Bloom",
    "Choice",
    "CountMin",
    "CountingBloom",
    "Cuckoo",
    "Filter",
    "ForeignFilter",
    "FormatError",
    "FullError",
    "Heavy",
    "IntegerSet",
    "MergeError",
    "MutableFilter",
    "ParamsError",
    "RangeError",
    "ReadOnlyError",
    "RoaringSet",
    "ScalableBloom",
    "SplitBlockBloom",
    "Stats",
    "TopK",
    "TwoBitMap",
    "Window",
    "__version__",
    "distinct",
    "from_bytes",
    "intersect",
    "load",
    "once",
    "open",
    "plan",
    "subtract",
    "topk",
    "union",
]
