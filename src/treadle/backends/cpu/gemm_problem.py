"""What a matrix product is, how it is cut, and the plan that comes of it."""

from __future__ import annotations

from dataclasses import dataclass

from treadle.base.dtypes import DType, float32

ANY_ROWS = 1 << 62


@dataclass(frozen=True)
class Correlation:
    """A's rows are 3 x 3 windows of planes: of high x wide of them, moved by one element.

    Or its columns are, for the gradient of kernels: windows of items planes that lie item apart.
    """

    plane: int  # elements from a channel to the next
    line: int  # and from a line to the next
    high: int
    wide: int
    items: int = 0
    item: int = 0


@dataclass(frozen=True)
class Problem:
    """C[m, n] = A[m, k] B[k, n] for every batch item; strides in elements, 0 to broadcast."""

    m: int
    n: int
    k: int
    a_strides: tuple[int, int]  # along m and k; one of them 1
    b_strides: tuple[int, int]  # along k and n; one of them 1
    c_row: int  # along m; n has stride 1
    batch: tuple[int, ...] = ()
    a_batch: tuple[int, ...] = ()
    b_batch: tuple[int, ...] = ()
    c_batch: tuple[int, ...] = ()
    a_dtype: DType = float32
    b_dtype: DType = float32
    has_epilogue: bool = False
    most_rows: int = ANY_ROWS  # of a task: columns of so many are added up one by one
    looked: bool = False  # A lies at places that tables give, its strides count for nothing
    correlation: Correlation | None = None  # what those places are, if they are that
    steady: bool = False  # B is multiplied again and again: packed once, for all times


NUMBERS = ("m", "n", "k", "c_row")
STRIDES = ("a_strides", "b_strides", "batch", "a_batch", "b_batch", "c_batch")


@dataclass(frozen=True)
class Cut:
    """The decisions: what is packed, and the block of C that is one task."""

    rows: int
    columns: int
    depth: int  # longest run of k between two visits of a tile
    pack_left: bool = False
    left_rows: int = 0  # of A that are packed before tasks begin; 0: all
    pack_right: bool = True
    right_once: bool = False  # B is packed for all tasks before they begin
    matvec: bool = False
    swapped: bool = False  # C^T = B^T A^T instead


@dataclass(frozen=True)
class Phase:
    """One parallel loop: run entry for every block below blocks."""

    entry: str
    blocks: int
    words: tuple[int, ...]
    slots: tuple[tuple[str, int], ...]  # argument name, its first word; SLOTS says how many


@dataclass(frozen=True)
class Plan:
    """Phases in order, each complete before the next, and the memory they need."""

    phases: tuple[Phase, ...]
    code: str  # which module the phases are in: a key of products.CODE
    apack_bytes: int  # packed A, one for the product
    bpack_bytes: int  # packed B, if that is one for the product too
    scratch_bytes: int  # for each thread; scratch is threads times this
    block: tuple[int, int] = (1, 1)  # rows and columns that one task has
