"""How LLVM IR text becomes the address of a function.

Modules compile in parallel: each has its own LLVM context and each thread its own target machines,
and the two long calls go around llvmlite's global lock. Objects are linked one per library, so two
objects may define the same symbol.
"""

from __future__ import annotations

import ctypes
import itertools
import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import llvmlite
import llvmlite.binding as llvm

from treadle.backends.cpu.host import usable_cores
from treadle.base import cache as disk
from treadle.base import trace
from treadle.base.errors import CompilerError, explain
from treadle.base.target import Target

PASSES = (
    "add_sroa_pass",
    "add_simplify_cfg_pass",
    "add_instruction_combine_pass",
    "add_loop_rotate_pass",
    "add_simplify_cfg_pass",
)
OBJECT, ASSEMBLY = 1, 0


@dataclass(frozen=True)
class Job:
    """One module to load; see `load`."""

    key: str
    make_text: Callable[[], str]
    symbols: tuple[str, ...]
    target: Target
    level: int
    passes: bool = False


class _ThreadState(threading.local):
    """Target machines may not be shared between threads that compile."""

    def __init__(self) -> None:
        self.machines: dict[tuple[Target, int], llvm.TargetMachine] = {}


_state = _ThreadState()
_loaded: dict[tuple[str, Target, int, bool], dict[str, int]] = {}
_libraries: list[llvm.ResourceTracker] = []  # dropping one would unload its code
_numbers = itertools.count()


def compile_object(text: str, target: Target, level: int, passes: bool = False) -> bytes:
    """The module as an object file. Level 0..3 is LLVM's code generation level."""
    return _emit(text, target, level, passes, OBJECT)


def assembly(text: str, target: Target, level: int, passes: bool = False) -> str:
    """The module as assembly, to read."""
    return _emit(text, target, level, passes, ASSEMBLY).decode()


def loaded_count() -> int:
    """Pieces of machine code in use."""
    return len(_loaded)


def load(
    key: str,
    make_text: Callable[[], str],
    symbols: tuple[str, ...],
    target: Target,
    level: int,
    passes: bool = False,
) -> dict[str, int]:
    """Addresses of symbols in the module named by key: from memory, from disk, or compiled now.

    The key must determine the text, which is made only if neither cache holds the object.
    """
    place = (key, target, level, passes)
    known = _loaded.get(place)
    if known is None:
        known = _link(_object(Job(key, make_text, symbols, target, level, passes)), symbols)
        _loaded[place] = known
    return known


def load_many(jobs: Sequence[Job]) -> list[dict[str, int]]:
    """`load` for each job, in order, compiling in as many threads as there are cores."""
    places = {(job.key, job.target, job.level, job.passes): job for job in jobs}
    missing = [job for place, job in places.items() if place not in _loaded]
    workers = min(usable_cores(), len(missing))
    if workers > 1:
        heard = (trace.listeners(),)
        with ThreadPoolExecutor(workers, "treadle-jit", trace.work_for, heard) as threads:
            objects = list(threads.map(_object, missing))
        for job, image in zip(missing, objects, strict=True):
            _loaded[job.key, job.target, job.level, job.passes] = _link(image, job.symbols)
    return [
        load(job.key, job.make_text, job.symbols, job.target, job.level, job.passes) for job in jobs
    ]


def _object(job: Job) -> bytes:
    target = job.target
    name = disk.digest(
        *("cpu-object", llvmlite.__version__, _source_version()),
        repr(target),
        *(str(job.level), str(job.passes), job.key),
    )
    image = disk.read(name)
    if image is None:
        image = compile_object(job.make_text(), target, job.level, job.passes)
        trace.tell("module", job.key)
        disk.write(name, image)
    return image


@cache
def _source_version() -> str:
    """Changes whenever the code that decides what kernels are does."""
    package = Path(__file__).parents[2]
    folders = ("base", "ops", "ir", "schedule", "kernel", "backends/cpu")
    files = sorted(file for folder in folders for file in (package / folder).glob("*.py"))
    facts = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return disk.digest(repr(facts))


def _link(image: bytes, symbols: tuple[str, ...]) -> dict[str, int]:
    builder = llvm.JITLibraryBuilder().add_object_img(image).add_current_process()
    for symbol in symbols:
        builder.export_symbol(symbol)
    try:
        library = builder.link(_linker(), f"treadle{next(_numbers)}")
    except RuntimeError as error:
        wrong = f"cannot link a compiled module: {error}"
        raise CompilerError(explain("jit", wrong, symbols=", ".join(symbols))) from None
    _libraries.append(library)
    return {symbol: library[symbol] for symbol in symbols}


@cache
def _linker() -> llvm.LLJIT:
    # JITLink keeps an object's code and constants in one block, which the small code model needs.
    _initialize()
    return llvm.create_lljit_compiler(use_jit_link=True)


@cache
def _initialize() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


def _machine(target: Target, level: int) -> llvm.TargetMachine:
    machines = _state.machines
    machine = machines.get((target, level))
    if machine is None:
        _initialize()
        triple = target.triple or llvm.get_process_triple()
        machine = llvm.Target.from_triple(triple).create_target_machine(
            cpu=target.cpu, features=target.features, opt=level, reloc="pic", codemodel="small"
        )
        machines[target, level] = machine
    return machine


@cache
def _unlocked() -> ctypes.CDLL:
    """llvmlite's library, called without its lock: our modules share nothing with each other."""
    library = ctypes.CDLL(llvm.ffi.lib._name)
    pointer, message = ctypes.c_void_p, ctypes.POINTER(ctypes.c_char_p)
    library.LLVMPY_ParseAssembly.argtypes = [pointer, ctypes.c_char_p, message]
    library.LLVMPY_ParseAssembly.restype = llvm.ffi.LLVMModuleRef
    library.LLVMPY_TargetMachineEmitToMemory.argtypes = [pointer, pointer, ctypes.c_int, message]
    library.LLVMPY_TargetMachineEmitToMemory.restype = llvm.ffi.LLVMMemoryBufferRef
    return library


def _emit(text: str, target: Target, level: int, passes: bool, kind: int) -> bytes:
    machine = _machine(target, level)
    with llvm.create_context() as context, _parse(text, context) as module:
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        try:
            module.verify()
        except RuntimeError as error:
            raise _failure(str(error), text) from None
        if passes:
            _run_passes(module, machine)
        return _emit_module(module, machine, kind)


def _parse(text: str, context: llvm.ContextRef) -> llvm.ModuleRef:
    with llvm.ffi.OutputString() as message:
        found = _unlocked().LLVMPY_ParseAssembly(context, text.encode(), message)
        if message:
            raise _failure(str(message), text)
    return llvm.ModuleRef(found, context)


def _emit_module(module: llvm.ModuleRef, machine: llvm.TargetMachine, kind: int) -> bytes:
    with llvm.ffi.OutputString() as message:
        buffer = _unlocked().LLVMPY_TargetMachineEmitToMemory(machine, module, kind, message)
        if not buffer:
            raise CompilerError(explain("jit", f"LLVM cannot emit the module: {message}"))
    library = llvm.ffi.lib
    try:
        start, size = library.LLVMPY_GetBufferStart(buffer), library.LLVMPY_GetBufferSize(buffer)
        return ctypes.string_at(start, size)
    finally:
        library.LLVMPY_DisposeMemoryBuffer(buffer)


def _run_passes(module: llvm.ModuleRef, machine: llvm.TargetMachine) -> None:
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
    manager = llvm.create_new_function_pass_manager()
    for name in PASSES:
        getattr(manager, name)()
    for function in module.functions:
        if not function.is_declaration:
            manager.run(function, builder)


def _failure(message: str, text: str) -> CompilerError:
    """LLVM's complaint with the numbered lines of IR around it."""
    lines = text.splitlines()
    located = re.search(r":(\d+):\d+: error", message)
    if located:
        number = int(located.group(1))
    else:  # the verifier quotes the instruction instead of its line
        quoted = {line.strip() for line in message.splitlines()}
        matches = (k for k, line in enumerate(lines, 1) if line.strip() and line.strip() in quoted)
        number = next(matches, 1)
    first = max(0, number - 5)
    shown = (
        f"{'>' if k == number else ' '}{k:5d} | {line}"
        for k, line in enumerate(lines[first : number + 4], first + 1)
    )
    wrong = explain("jit", f"LLVM rejects the module: {message.strip()}")
    return CompilerError("\n".join([wrong, *shown]))
