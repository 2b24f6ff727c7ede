"""Does code run wherever it lies, stay while somebody holds it, and go afterwards?"""

from __future__ import annotations

import ctypes
import errno
import gc
import re
import struct
import sys
import threading
import weakref
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import treadle as td
from treadle.backends.cpu import buffers, elf, host, jit, link
from treadle.base import forks
from treadle.base.errors import OutOfMemory
from treadle.runtime import realize as runtime

HOST = host.host_target()
on_linux = pytest.mark.skipif(
    sys.platform != "linux" or not HOST.is_x86, reason="elsewhere LLVM links"
)

MARK = 0x12345678
ADDER = f"define i64 @add(i64 %x) {{\n  %y = add i64 %x, {MARK}\n  ret i64 %y\n}}\n"
# Constants of several alignments, a table of jumps, a function of the module and one of C.
VARIED = """
declare double @fmod(double, double)
define internal double @inner(double %x, double %y) noinline {
  %r = call double @fmod(double %x, double %y)
  ret double %r
}
define double @chosen(i64 %k, double %x) {
entry:
  switch i64 %k, label %other [ i64 0, label %a  i64 1, label %b  i64 2, label %c
                                i64 3, label %d  i64 4, label %e ]
a:
  ret double 0x3FF1234567890123
b:
  %b1 = fmul double %x, 0x400921FB54442D18
  ret double %b1
c:
  %c1 = call double @inner(double %x, double 1.75)
  ret double %c1
d:
  %d0 = insertelement <4 x double> zeroinitializer, double %x, i64 0
  %d1 = shufflevector <4 x double> %d0, <4 x double> poison, <4 x i32> zeroinitializer
  %d2 = fadd <4 x double> %d1, <double 1.0, double 2.5, double 3.25, double 4.125>
  %d3 = extractelement <4 x double> %d2, i64 3
  ret double %d3
e:
  %e1 = fdiv double %x, 3.0
  ret double %e1
other:
  %o1 = fneg double %x
  ret double %o1
}
"""
COUNTER = """
@count = internal global i64 40
define i64 @next() {
  %old = load i64, ptr @count
  %new = add i64 %old, 1
  store i64 %new, ptr @count
  ret i64 %new
}
"""


def adders(numbers):
    """Objects as many as wanted, for the price of compiling one."""
    image = jit.compile_object(ADDER, HOST, 1)
    mark = struct.pack("<I", MARK)
    assert image.count(mark) == 1
    return [image.replace(mark, struct.pack("<I", n)) for n in numbers]


def call(code, x: int, symbol: str = "add") -> int:
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(code[symbol])(x)


def mappings() -> int:
    return len(Path("/proc/self/maps").read_text().splitlines())


def random_graph(number: int):
    """A small graph like no other: its kernel is new."""
    x = td.tensor(np.linspace(0.5, 1.5, 8, dtype=np.float32))
    ops = (td.exp, td.sqrt, td.tanh, td.neg, td.sigmoid, td.square)
    y = x
    while number:
        number, k = divmod(number, len(ops))
        y = ops[k](y) + x
    return y


# ---- linking


@pytest.mark.parametrize("level", range(4))
def test_code_does_what_llvm_linked_code_does(level):
    image = jit.compile_object(VARIED, HOST, level)
    kind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64, ctypes.c_double)
    ours, theirs = link.load(image, ("chosen",)), link._libraries.load(image, ("chosen",))
    for k in range(7):
        for x in (0.0, 1.25, -7.5, 1e300):
            assert kind(ours["chosen"])(k, x) == kind(theirs["chosen"])(k, x)


@on_linux
def test_what_kernels_are_made_of_needs_no_help(monkeypatch):
    monkeypatch.setattr(link._libraries, "load", lambda *_: pytest.fail("left to LLVM"))
    monkeypatch.setattr(jit, "_loaded", {})
    monkeypatch.setattr(runtime, "_PROGRAMS", {})
    x = td.tensor(np.linspace(-3, 3, 24, dtype=np.float32).reshape(4, 6))
    y = td.softmax(x) @ td.exp(x).T + td.fmod(x, td.ones(6)).sum()
    np.testing.assert_allclose(td.sort(y, 1).numpy(), np.sort(y.numpy(), 1))
    assert link.load(jit.compile_object(VARIED, HOST, 2), ("chosen",))


def test_what_we_cannot_link_is_left_to_llvm():
    image = jit.compile_object(COUNTER, HOST, 1)
    assert elf.linked(image, ("next",)) is None
    code = link.load(image, ("next",))
    following = ctypes.CFUNCTYPE(ctypes.c_int64)(code["next"])
    assert [following(), following()] == [41, 42]


@pytest.mark.parametrize("cut", [0, 10, 63, 64, 200, 400])
def test_broken_objects_are_nothing(cut):
    image = jit.compile_object(VARIED, HOST, 1)
    assert elf.linked(image[:cut], ("chosen",)) is None
    assert elf.linked(image, ("absent",)) is None
    assert elf.linked(jit.compile_object(ADDER, host.AARCH64, 1), ("add",)) is None


@on_linux
def test_nothing_is_writable_and_executable_at_once():
    code = [link.load(image, ("add",)) for image in adders(range(100))]
    starts = {region.start for region in link._arena.regions}
    rights = {}
    for line in Path("/proc/self/maps").read_text().splitlines():
        start, end, kind = re.match(r"(\w+)-(\w+) (\S+)", line).groups()
        for region in starts:
            if int(start, 16) <= region < int(end, 16):
                rights[region] = kind
    assert rights.keys() == starts
    assert set(rights.values()) == {"r-xp"}
    assert [call(c, 1) for c in code] == list(range(1, 101))


# ---- how much


@on_linux
@pytest.mark.parametrize("held", [1, 700])
def test_mappings_and_memory_are_bounded(held):
    """Every object used to keep two mappings; at 65,530 of them LLVM ended the process."""
    images = adders(range(50_000 if held == 1 else 3000))
    before, at_first = link.statistics(), mappings()
    most = most_bytes = 0
    codes = deque(maxlen=held)
    for number, image in enumerate(images):
        codes.append(link.load(image, ("add",)))
        if number % 500 == 0:
            found = link.statistics()
            most = max(most, mappings() - at_first)
            most_bytes = max(most_bytes, found.nbytes - before.nbytes)
            assert call(codes[-1], 5) == number + 5
    assert most <= 4 + 2 * (held // link.BLOCKS + 1)
    assert most_bytes <= (held + 1) * link.PAGE_BYTES
    assert [call(code, 0) for code in codes] == list(range(len(images)))[-held:]


def test_the_report_says_how_much_code_there_is():
    before = td.memory_report()
    code = [link.load(image, ("add",)) for image in adders(range(200))]
    report = td.memory_report()
    assert report.kernels - before.kernels == 200
    assert report.code_bytes - before.code_bytes == 200 * link.PAGE_BYTES
    assert 0 < report.code_mappings - before.code_mappings <= 5
    assert f"{report.kernels} loaded" in str(report)
    assert f"in {report.code_mappings} mappings" in str(report)
    del code
    after = td.memory_report()
    assert (after.kernels, after.code_bytes) == (before.kernels, before.code_bytes)


def test_large_objects_have_room():
    table = ", ".join(f"i64 {k * k}" for k in range(40_000))
    text = f"""
    @table = internal constant [40000 x i64] [{table}]
    define i64 @add(i64 %k) {{
      %p = getelementptr [40000 x i64], ptr @table, i64 0, i64 %k
      %v = load i64, ptr %p
      ret i64 %v
    }}
    """
    code = link.load(jit.compile_object(text, HOST, 1), ("add",))
    assert [call(code, k) for k in (0, 77, 39_999)] == [0, 77**2, 39_999**2]


# ---- how long


@pytest.fixture
def nothing_recent(monkeypatch):
    """Code that is held by programs alone."""
    monkeypatch.setattr(jit, "MOST_RECENT", 0)
    jit._recent.clear()


def test_code_stays_with_its_program_and_goes_with_it(nothing_recent, monkeypatch):
    monkeypatch.setattr(runtime, "_PROGRAMS", {})
    monkeypatch.setattr(runtime, "_SINGLE", {})
    gc.collect()
    before = link.statistics()
    for number in range(1000, 1020):
        random_graph(number).realize()
    loaded = link.statistics()
    assert loaded.kernels >= before.kernels + 20
    for number in range(1000, 1020):  # found again: nothing is linked twice
        random_graph(number).realize()
    assert link.statistics() == loaded
    runtime._PROGRAMS.clear()
    runtime._SINGLE.clear()
    gc.collect()
    assert link.statistics().kernels == before.kernels


def test_programs_that_are_forgotten_take_their_code_along(nothing_recent, monkeypatch):
    monkeypatch.setattr(runtime, "_PROGRAMS", {})
    monkeypatch.setattr(runtime, "MOST_PROGRAMS", 16)
    gc.collect()
    gc.disable()  # nobody has to look for circles
    try:
        before = link.statistics().kernels
        for number in range(2000, 2100):
            random_graph(number).realize()
            assert link.statistics().kernels - before <= 2 * 16
    finally:
        gc.enable()


def test_a_program_holds_all_code_it_calls(nothing_recent):
    """The code of its table, and the code that a product calls on each tile."""
    x = td.tensor(np.linspace(-1, 1, 64 * 64, dtype=np.float32).reshape(64, 64))

    @td.compile
    def f(x):
        return td.tanh(x @ x + 1.5) * 0.25

    expected = np.tanh(x.numpy() @ x.numpy() + 1.5) * 0.25
    f(x)
    ((traced,),) = f.entries.values()
    program = traced.program
    assert program.epilogues
    held = {
        address
        for code in (*program.code, *program.epilogue_code)
        for address in code._addresses.values()
    }
    words = [word for memory in program.memory for word in memory]
    lying = {range(region.start, region.start + region.nbytes) for region in link._arena.regions}
    called = {word for word in words if any(word in place for place in lying)}
    assert called <= held
    runtime._PROGRAMS.clear()
    gc.collect()
    others = [link.load(image, ("add",)) for image in adders(range(500))]  # into every free block
    np.testing.assert_allclose(f(x).numpy(), expected, rtol=1e-5, atol=1e-6)
    del others


def test_a_program_that_runs_holds_its_code(nothing_recent, monkeypatch):
    monkeypatch.setattr(runtime, "_PROGRAMS", {})
    stop = threading.Event()
    images = adders(range(64))

    def churn():
        while not stop.is_set():
            runtime._PROGRAMS.clear()
            runtime._SINGLE.clear()
            codes = [link.load(image, ("add",)) for image in images]
            assert [call(code, 1) for code in codes] == list(range(1, 65))

    def compute(number):
        return [random_graph(number + k % 3).numpy() for k in range(15)]

    expected = {n: random_graph(n).numpy() for n in range(50, 60)}
    churning = threading.Thread(target=churn)
    churning.start()
    try:
        with ThreadPoolExecutor(3) as threads:
            results = list(threads.map(compute, range(50, 58)))
    finally:
        stop.set()
        churning.join()
    for number, found in zip(range(50, 58), results, strict=True):
        for k, value in enumerate(found):
            np.testing.assert_array_equal(value, expected[number + k % 3])


def test_code_used_last_is_not_linked_again(monkeypatch):
    monkeypatch.setattr(jit, "MOST_RECENT", 2)
    jit._recent.clear()

    def load(n):
        text = ADDER.replace(str(MARK), str(n))
        return weakref.ref(jit.load(f"recent {n}", lambda: text, ("add",), HOST, 1))

    first, second = load(1), load(2)
    assert load(1) is not None
    third = load(3)
    assert (first() is not None, second(), third() is not None) == (True, None, True)


def test_the_code_of_the_runtime_stays():
    from treadle.backends.cpu import threads

    td.ones(3).sum().item()
    code = threads._functions()
    jit._recent.clear()
    gc.collect()
    assert threads._functions() is code


@pytest.mark.timeout(20)
def test_a_finalizer_may_compute_in_the_middle_of_loading():
    with link._arena.lock, jit._KEEPING, forks.COMPILING.mine():
        assert random_graph(777).numpy().shape == (8,)


def test_what_was_interrupted_while_it_was_made_goes_quietly():
    for kind in (link.Code, buffers.Buffer):
        assert kind.__new__(kind).__del__() is None


# ---- where there is no room


@on_linux
def test_without_memory_programs_are_forgotten_first(monkeypatch):
    refused = []

    class Full:
        def __init__(self, *_):
            refused.append(1)
            raise OSError(errno.ENOMEM, "no memory for code")

    random_graph(5).realize()
    (image,) = adders([3])
    monkeypatch.setattr(link, "Region", Full)
    monkeypatch.setattr(link, "_arena", link.Arena())
    with pytest.raises(OutOfMemory, match="no room for more machine code"):
        link.load(image, ("add",))
    assert len(refused) == 2
    assert not runtime._PROGRAMS
    assert not jit._recent


@on_linux
def test_where_code_is_forbidden_llvm_is_asked(monkeypatch):
    def forbidden(*_):
        raise OSError(errno.EACCES, "not here")

    monkeypatch.setattr(link._arena, "load", forbidden)
    code = link.load(adders([8])[0], ("add",))
    assert call(code, 1) == 9
    assert code._home is link._libraries


def test_what_llvm_links_is_bounded_too(monkeypatch):
    monkeypatch.setattr(link, "linked", lambda *_: None)
    monkeypatch.setattr(link.Libraries, "SHARE", 8)  # a linker lasts as long as its libraries
    monkeypatch.setattr(link, "most_mappings", lambda: 2 * link.Libraries.MAPPINGS * 20)
    codes = []
    monkeypatch.setattr(link, "RELIEF", [lambda: codes.__delitem__(slice(0, 10))])
    for image in adders(range(60)):
        codes += [link.load(image, ("add",))]
    assert len(codes) <= 21
    assert [call(code, 0) for code in codes] == list(range(60))[-len(codes) :]
    monkeypatch.setattr(link, "RELIEF", [])
    with pytest.raises(OutOfMemory, match="max_map_count"):
        codes += [link.load(image, ("add",)) for image in adders(range(30))]
