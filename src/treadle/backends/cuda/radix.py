"""Texts of the kernels of a radix sort.

Digits have four bits. Within the elements of one lane they are counted by sixteen fields of four
bits in one word, within a row of lanes by eight bits: those of even digits in one word, of odd ones
in another. Rows are added up digit by digit.

Blocks take tickets, so that who waits waits for work that was begun. Each says how many elements
of every digit it has, and then, once it knows, how many there are up to its end: a word is a count
and above it, in units, 1 for the former and 2 for the latter. Nothing else tells blocks that a
word is there, so no order of memory is needed; and counts are exact, whoever adds them up.
"""

DIGIT = 4  # bits
DIGITS = 1 << DIGIT
LANE = 8  # elements whose digits are counted by four bits: 15 at most
ROW = 128  # elements, by eight bits: 255 at most

FIELDS = """
@triton.jit
def one_of(digit):
    return tl.full((1, 1), 1, tl.int64) << (digit * 4).to(tl.int64)

@triton.jit
def of_even(word):
    return word & 0x0F0F0F0F0F0F0F0F

@triton.jit
def of_odd(word):
    return (word >> 4) & 0x0F0F0F0F0F0F0F0F

@triton.jit
def field(even, odd, digit):
    word = tl.where((digit & 1) == 0, even, odd)
    return (word >> ((digit >> 1) * 8).to(tl.int64)).to(tl.int32) & 255
"""
COUNT = """
@triton.jit
def kernel(x, counts, n, inner, lines, tickets, parts, ROWS: tl.constexpr,
           TURNS: tl.constexpr, DIGITS: tl.constexpr, QUAD: tl.constexpr):
    line = tl.program_id(0){wide} // parts
    each = tl.arange(0, DIGITS)[None, :]
    start = tl.program_id(0){wide} % parts * (QUAD * ROWS * TURNS)
    {zeros}
    for turn in range(0, tl.minimum(TURNS, tl.cdiv(n - start, QUAD * ROWS))):
        k = (turn * ROWS + tl.arange(0, ROWS)[:, None]) * QUAD + tl.arange(0, QUAD)[None, :]
        k += start
        inside = {inside}
        bits = tl.load(x + {at}, mask=inside, other=0).to({kind})
        {keys}
        {step}
    {last}
"""
MOVE = """
@triton.jit
def kernel({arguments}, n, inner, lines, blocks, tickets, number, BLOCK: tl.constexpr,
           ROW: tl.constexpr, LANE: tl.constexpr, PIECE: tl.constexpr, DIGITS: tl.constexpr,
           SEEN: tl.constexpr):
    line = {line}
    block = {block}
    shift = number * 4
    each = tl.arange(0, DIGITS)[None, :]
    unit = tl.full((1, 1), {unit}, {word})
    {constants}
    first = tl.arange(0, BLOCK // ROW)[:, None, None] * ROW + block * BLOCK
    first += tl.arange(0, ROW // LANE)[None, :, None] * LANE + tl.arange(0, PIECE)[None, None, :]
    word = tl.zeros((BLOCK // ROW, ROW // LANE), tl.int64)
    {load}
    even, odd = of_even(word), of_odd(word)
    evens, odds = tl.cumsum(even, 1), tl.cumsum(odd, 1)
    last = tl.full((BLOCK // ROW, 1), ROW // LANE - 1, tl.int32)
    rows = field(tl.gather(evens, last, 1), tl.gather(odds, last, 1), each)
    mine = tl.sum(rows, 0, keep_dims=True).to({word})
    {say}
    even, odd = (evens - even)[:, :, None], (odds - odd)[:, :, None]
    {rank}
    {before}
    all = {all}
    begin = tl.cumsum(all, 1) - all + before + tl.cumsum(rows, 0) - rows - 1
    {stores}
"""
LOAD = """k = first + {start}
    inside{p} = {inside}
    {load}
    digit{p} = tl.where(inside{p}, ((key >> shift) & (DIGITS - 1)).to(tl.int32), DIGITS - 1)
    one = one_of(digit{p})
    so_far = tl.cumsum(one, 2) + word[:, :, None]
    rank{p} = (so_far >> (digit{p} * 4).to(tl.int64)).to(tl.int32) & 15
    word = word + tl.sum(one, 2)"""
RANK = "rank{p} += field(even, odd, digit{p})"
STORE = """place = tl.gather(begin, tl.reshape(digit{p}, (BLOCK // ROW, ROW // LANE * PIECE)), 1)
    place = tl.reshape(place, (BLOCK // ROW, ROW // LANE, PIECE)) + rank{p}
    {store}"""
SAY = """states = counts + tickets * (1 + DIGITS) + (number * lines + line) * blocks * DIGITS
    own = states + block * DIGITS + each
    tl.atomic_xchg(own, mine + unit, sem="relaxed")"""
BEFORE = """before = tl.zeros_like(mine)
    looks = before == 0
    seen = tl.arange(0, SEEN)[:, None]
    at = block - 1
    while at >= 0:
        back = at - seen
        said = tl.load(states + back * DIGITS + each, mask=back >= 0, other=2 * {unit},
                       volatile=True)
        if tl.min(said) >= {unit}:
            whole = said >= 2 * unit
            nearest = tl.min(tl.where(whole, seen, SEEN), 0, keep_dims=True)
            part = tl.where(whole, said - 2 * unit, said - unit)
            part = tl.where((seen <= nearest) & looks, part, 0)
            before += tl.sum(part, 0, keep_dims=True)
            looks = looks & (nearest == SEEN)
            at = tl.where(tl.max(looks.to(tl.int32)) > 0, at - SEEN, -1)
    tl.atomic_xchg(own, mine + before + 2 * unit, sem="relaxed")"""
MANY = {
    "block": 'tl.atomic_add(counts + number * lines + line, 1, sem="relaxed")',
    "say": SAY,
    "before": BEFORE,
    "all": "tl.load(counts + tickets + (number * lines + line) * DIGITS + each)",
}
"""What differs where a line is many blocks,"""
ONE = {"block": "0", "say": "", "before": "before = 0", "all": "mine"}
"""and where it is one."""
SUMS = """even{k} = tl.zeros((ROWS,), tl.int64)
    odd{k} = tl.zeros((ROWS,), tl.int64)"""
STEP = """one = one_of(((key >> {shift}) & (DIGITS - 1)).to(tl.int32))
        word = tl.sum(tl.where(inside, one, 0), 1)
        even{k} += of_even(word)
        odd{k} += of_odd(word)"""
ADD = """found = tl.sum(field(even{k}[:, None], odd{k}[:, None], each), 0, keep_dims=True)
    at = counts + tickets + ({k} * lines + line) * DIGITS + each
    tl.atomic_add(at, found.to(counts.dtype.element_ty), mask=found > 0, sem="relaxed")"""
