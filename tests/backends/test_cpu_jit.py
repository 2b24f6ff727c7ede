"""Does IR text become code, once, through memory and disk, and do its errors say where?"""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor

import pytest

from treadle.backends.cpu import host, jit
from treadle.backends.cpu.link import Code
from treadle.base.errors import CompilerError
from treadle.base.knobs import override

HOST = host.host_target()


def adder(number: int, name: str = "add") -> str:
    return f"define i64 @{name}(i64 %x) {{\n  %y = add i64 %x, {number}\n  ret i64 %y\n}}\n"


def call(address: int, x: int) -> int:
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)(x)


def load(key: str, text: str, level: int = 2, passes: bool = False) -> Code:
    return jit.load(key, lambda: text, ("add",), HOST, level, passes)


@pytest.fixture
def empty_memory(monkeypatch):
    monkeypatch.setattr(jit, "_loaded", {})


@pytest.mark.parametrize("passes", [False, True])
@pytest.mark.parametrize("level", range(4))
def test_text_becomes_a_function(level, passes):
    code = load(f"level {level} {passes}", adder(41), level, passes)
    assert call(code["add"], 1) == 42


def test_modules_may_share_symbol_names():
    codes = [load(f"share {n}", adder(n)) for n in range(20)]
    assert [call(code["add"], 0) for code in codes] == list(range(20))


def test_text_is_made_once_per_process_and_once_per_disk(empty_memory, monkeypatch, tmp_path):
    made = []

    def make_text() -> str:
        made.append(1)
        return adder(7)

    with override(cache_dir=str(tmp_path)):
        for _ in range(3):
            jit.load("once", make_text, ("add",), HOST, 2)
        assert len(made) == 1
        monkeypatch.setattr(jit, "_loaded", {})
        code = jit.load("once", make_text, ("add",), HOST, 2)
        assert call(code["add"], 1) == 8
        assert len(made) == 1
        jit.load("once", make_text, ("add",), HOST, 1)
        assert len(made) == 2


def test_many_load_in_order_and_each_once(empty_memory):
    made = []

    def job(number: int) -> jit.Job:
        def make_text() -> str:
            made.append(number)
            return adder(number)

        return jit.Job(f"many {number}", make_text, ("add",), HOST, 1)

    numbers = [5, 6, 5, 7, 6, 8]
    with override(threads=3, cache_dir="off"):
        loaded = jit.load_many([job(number) for number in numbers])
    assert [call(symbols["add"], 0) for symbols in loaded] == numbers
    assert sorted(made) == [5, 6, 7, 8]


def test_threads_compile_the_same_bytes():
    text = adder(3)
    with ThreadPoolExecutor(4) as threads:
        objects = list(threads.map(lambda _: jit.compile_object(text, HOST, 2), range(40)))
    assert set(objects) == {jit.compile_object(text, HOST, 2)}


def test_a_syntax_error_shows_the_lines_around_it():
    text = adder(1).replace("add i64 %x, 1", "add i32 %x, 1")
    with pytest.raises(CompilerError) as caught:
        jit.compile_object(text, HOST, 2)
    message = str(caught.value)
    assert "defined with type 'i64' but expected 'i32'" in message
    assert ">    2 |   %y = add i32 %x, 1" in message
    assert "     3 |   ret i64 %y" in message


def test_an_ill_formed_module_is_rejected_before_it_is_compiled():
    text = (
        "define i64 @f(i1 %c) {\nentry:\n  br i1 %c, label %a, label %b\n"
        "a:\n  %y = add i64 1, 2\n  br label %b\nb:\n  ret i64 %y\n}\n"
    )
    with pytest.raises(CompilerError, match="does not dominate") as caught:
        jit.compile_object(text, HOST, 2)
    assert ">    5 |   %y = add i64 1, 2" in str(caught.value)


def test_a_missing_symbol_is_named():
    with pytest.raises(CompilerError, match="absent"):
        jit.load("missing", lambda: adder(1), ("absent",), HOST, 2)


@pytest.mark.parametrize(
    ("target", "instruction"), [(host.AVX2, "vfmadd"), (host.AARCH64, "fmla")], ids=["avx2", "arm"]
)
def test_other_processors_can_be_compiled_for(target, instruction):
    vector = f"<{target.lanes} x float>"
    fma = f"@llvm.fma.v{target.lanes}f32"
    text = (
        f"declare {vector} {fma}({vector}, {vector}, {vector})\n"
        f"define {vector} @f({vector} %a, {vector} %b, {vector} %c) {{\n"
        f"  %r = call {vector} {fma}({vector} %a, {vector} %b, {vector} %c)\n"
        f"  ret {vector} %r\n}}\n"
    )
    assert instruction in jit.assembly(text, target, 2)
    assert jit.compile_object(text, target, 2)


def test_the_host_is_described():
    assert HOST.vector_bytes in (16, 32, 64)
    assert 0 < HOST.l2_bytes <= HOST.l3_bytes
    assert HOST.triple
    assert HOST.cpu


def test_usable_cores_follow_the_knob():
    assert 1 <= host.usable_cores() <= host.MAX_THREADS
    with override(threads=3):
        assert host.usable_cores() == 3
    with override(threads=1000):
        assert host.usable_cores() == host.MAX_THREADS


def test_the_control_group_bounds_the_cores(monkeypatch, tmp_path):
    (tmp_path / "cpu.max").write_text("150000 100000\n")
    assert host._quota_of(tmp_path) == 1.5
    (tmp_path / "cpu.max").write_text("max 100000\n")
    assert host._quota_of(tmp_path) == float("inf")
    (tmp_path / "cpu.max").unlink()
    (tmp_path / "cpu.cfs_quota_us").write_text("400000\n")
    (tmp_path / "cpu.cfs_period_us").write_text("100000\n")
    assert host._quota_of(tmp_path) == 4.0
    (tmp_path / "cpu.cfs_quota_us").write_text("-1\n")
    assert host._quota_of(tmp_path) == float("inf")
    monkeypatch.setattr(host, "_cgroup_quota", lambda: 0.5)
    host._allowed_cores.cache_clear()
    assert host._allowed_cores() == 1
    monkeypatch.undo()
    host._allowed_cores.cache_clear()
