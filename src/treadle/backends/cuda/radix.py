"""Texts of the kernels of a radix sort.

Digits have four bits. Within QUAD elements they are counted by sixteen fields of four bits in one
word, within a row by eight bits: those of even digits in one word, of odd ones in another. Rows
are added up digit by digit.

Blocks take tickets, so that who waits waits for work that was begun. Each says how many elements
of every digit it has, and then, once it knows, how many there are up to its end: a word is a count
and above it, in units, 1 for the former and 2 for the latter. Nothing else tells blocks that a
word is there, so no order of memory is needed; and counts are exact, whoever adds them up.
"""

DIGIT = 4  # bits
DIGITS = 1 << DIGIT
QUAD = 4  # elements whose digits are counted by four bits: 15 at most
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
def kernel(x, counts, n, inner, lines, tickets, LANES: tl.constexpr, TURNS: tl.constexpr,
           DIGITS: tl.constexpr, QUAD: tl.constexpr):
    line = {line}
    each = tl.arange(0, DIGITS)[None, :]
    start = tl.program_id(0) * (QUAD * LANES * TURNS)
    {zeros}
    for turn in range(0, tl.minimum(TURNS, tl.cdiv(n - start, QUAD * LANES))):
        k = (turn * LANES + tl.arange(0, LANES)[:, None]) * QUAD + tl.arange(0, QUAD)[None, :]
        k += start
        inside = k < n
        bits = tl.load(x + {at}, mask=inside, other=0).to({kind})
        {keys}
        {step}
    {last}
"""
MOVE = """
@triton.jit
def kernel({arguments}, n, inner, lines, blocks, tickets, number, BLOCK: tl.constexpr,
           ROW: tl.constexpr, QUAD: tl.constexpr, DIGITS: tl.constexpr, SEEN: tl.constexpr):
    line = {line}
    block = {block}
    each = tl.arange(0, DIGITS)[None, :]
    unit = tl.full((1, 1), {unit}, {word})
    row = tl.arange(0, BLOCK // ROW)[:, None]
    k = block * BLOCK + row * ROW + tl.arange(0, ROW)[None, :]
    inside = k < n
    {load}
    {keys}
    shift = number * 4
    digit = tl.where(inside, ((key >> shift) & (DIGITS - 1)).to(tl.int32), DIGITS - 1)
    one = tl.reshape(one_of(digit), (BLOCK // ROW, ROW // QUAD, QUAD))
    digits = tl.reshape(digit, (BLOCK // ROW, ROW // QUAD, QUAD))
    quad = tl.sum(one, 2)
    even, odd = of_even(quad), of_odd(quad)
    rows = field(tl.sum(even, 1)[:, None], tl.sum(odd, 1)[:, None], each)
    mine = tl.sum(rows, 0, keep_dims=True).to({word})
    {say}
    within = (tl.cumsum(one, 2) >> (digits * 4).to(tl.int64)).to(tl.int32) & 15
    even, odd = tl.cumsum(even, 1) - even, tl.cumsum(odd, 1) - odd
    within += field(even[:, :, None], odd[:, :, None], digits)
    {before}
    all = tl.load(counts + tickets + (number * lines + line) * DIGITS + each)
    begin = tl.cumsum(all, 1) - all + before + tl.cumsum(rows, 0) - rows - 1
    place = tl.gather(begin, digit, 1) + tl.reshape(within, (BLOCK // ROW, ROW))
    {stores}
"""
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
SUMS = """even{k} = tl.zeros((LANES,), tl.int64)
    odd{k} = tl.zeros((LANES,), tl.int64)"""
STEP = """digit = ((key >> {shift}) & (DIGITS - 1)).to(tl.int32)
        quad = tl.sum(tl.where(inside, one_of(digit), 0), 1)
        even{k} += of_even(quad)
        odd{k} += of_odd(quad)"""
ADD = """found = tl.sum(field(even{k}[:, None], odd{k}[:, None], each), 0, keep_dims=True)
    at = counts + tickets + ({k} * lines + line) * DIGITS + each
    tl.atomic_add(at, found.to(counts.dtype.element_ty), mask=found > 0, sem="relaxed")"""
