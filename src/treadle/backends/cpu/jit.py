"""How LLVM IR text becomes the address of a function.

Modules compile in parallel: each has its own LLVM context and each thread its own target machines,
and the two long calls go around llvmlite's global lock. Code is there for as long as somebody holds
it, programs as a rule; a number of pieces used last are held besides.
"""

from __future__ import annotations

import ctypes
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from weakref import WeakValueDictionary

import llvmlite
import llvmlite.binding as llvm

from treadle.backends.cpu import link
from treadle.backends.cpu.host import usable_cores
from treadle.backends.registry import RELIEF
from treadle.base import cache as disk
from treadle.base import forks, trace
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
MOST_RECENT = 1024
SOURCES = ("base", "ops", "ir", "schedule", "kernel", "backends/cpu", "backends/cpu/linalg")
"""Folders that decide what kernels are."""

Place = tuple[str, Target, int, bool]


@dataclass(frozen=True)
class Job:
    """One module to load; see `load`."""

    key: str
    make_text: Callable[[], str]
    symbols: tuple[str, ...]
    target: Target
    effort: int
    passes: bool = False

    @property
    def place(self) -> Place:
        """What the code is known by."""
        return self.key, self.target, self.effort, self.passes


def job(
    make: Callable[..., str], parts: tuple[object, ...], symbols: tuple[str, ...], target: Target,
    effort: int, passes: bool = False,
) -> Job:  # fmt: skip
    """The job of the module make(*parts, target), known by what it is made of and nothing else.

    make is a function of a module: no closure, no method, so that it sees its parts alone.
    """
    words = [part if isinstance(part, str) else repr(part) for part in parts]
    key = "\n".join([f"{make.__module__}.{make.__qualname__}", *words])
    return Job(key, partial(make, *parts, target), symbols, target, effort, passes)


class _ThreadState(threading.local):
    """Target machines may not be shared between threads that compile."""

    def __init__(self) -> None:
        self.machines: dict[tuple[Target, int], llvm.TargetMachine] = {}


_state = _ThreadState()
_loaded: WeakValueDictionary[Place, link.Code] = WeakValueDictionary()
_recent: OrderedDict[Place, link.Code] = OrderedDict()
_KEEPING = threading.RLock()  # a finalizer may come in between
forks.share("kernels", _KEEPING)
forks.share("llvm", llvm.ffi.lib._lock._lock)
RELIEF.append(_recent.clear)


def compile_object(text: str, target: Target, effort: int, passes: bool = False) -> bytes:
    """The module as an object file. Effort 0..3 is LLVM's code generation level."""
    return _emit(text, target, effort, passes, OBJECT)


def assembly(text: str, target: Target, effort: int, passes: bool = False) -> str:
    """The module as assembly, to read."""
    return _emit(text, target, effort, passes, ASSEMBLY).decode()


def load(
    key: str,
    make_text: Callable[[], str],
    symbols: tuple[str, ...],
    target: Target,
    effort: int,
    passes: bool = False,
) -> link.Code:
    """Code of the module named by key: from memory, from disk, or compiled now.

    The key must determine the text, which is made only if neither cache holds the object. Addresses
    are worth something for as long as the code is held.
    """
    return load_many([Job(key, make_text, symbols, target, effort, passes)])[0]


def load_many(jobs: Sequence[Job]) -> list[link.Code]:
    """`load` for each job, in order, compiling in as many threads as there are cores."""
    with forks.COMPILING.mine():
        found: dict[Place, link.Code] = {}
        missing: list[Job] = []
        for place, job in {job.place: job for job in jobs}.items():
            code = _known(place)
            if code is None:
                missing.append(job)
            else:
                found[place] = code
        for job, image in zip(missing, _objects(missing), strict=True):
            found[job.place] = _keep(job.place, link.load(image, job.symbols))
        return [found[job.place] for job in jobs]


def _known(place: Place) -> link.Code | None:
    with _KEEPING:
        code = _loaded.get(place)
        if code is not None and place in _recent:
            _recent.move_to_end(place)
        return code


def _keep(place: Place, code: link.Code) -> link.Code:
    """Remember code, or what another thread has made meanwhile."""
    with _KEEPING:
        code = _loaded.setdefault(place, code)
        _recent[place] = code
        _recent.move_to_end(place)
        if len(_recent) > MOST_RECENT:
            _recent.popitem(last=False)
        return code


def _objects(jobs: list[Job]) -> list[bytes]:
    """Objects of all jobs, made by this thread and others.

    Not by an executor of the standard library's: its threads start under a lock that forks take
    before they wait for us.
    """
    found: list[bytes] = [b""] * len(jobs)
    wrong: list[BaseException] = []
    left = iter(range(len(jobs)))  # a step of it is one thread's
    heard = trace.listeners()

    def work() -> None:
        try:
            trace.work_for(heard)
            for k in left:
                found[k] = _object(jobs[k])
        except BaseException as error:
            wrong.append(error)
            list(left)  # nobody need go on

    others = [threading.Thread(target=work) for _ in range(min(usable_cores(), len(jobs)) - 1)]
    for thread in others:
        thread.start()
    work()
    for thread in others:
        thread.join()
    if wrong:
        raise wrong[0]
    return found


def _object(job: Job) -> bytes:
    name = _name_on_disk(job)
    image = disk.read(name) if name else None
    if image is None:
        with trace.stage("emit"):
            text = job.make_text()
        with trace.stage("LLVM"):
            image = compile_object(text, job.target, job.effort, job.passes)
        trace.tell("module", job.key)
        if name:
            disk.write(name, image)
    return image


@cache
def _described(target: Target) -> str:
    return repr(target)


def _name_on_disk(job: Job) -> str:
    """What an object is known by to other processes; nothing if our sources cannot be read."""
    ours = disk.sources(*SOURCES)
    facts = _described(job.target), str(job.effort), str(job.passes), job.key
    return disk.digest("cpu-object", llvmlite.__version__, ours, *facts) if ours else ""


def _machine(target: Target, effort: int) -> llvm.TargetMachine:
    machines = _state.machines
    machine = machines.get((target, effort))
    if machine is None:
        link.initialize()
        triple = target.triple or llvm.get_process_triple()
        machine = llvm.Target.from_triple(triple).create_target_machine(
            cpu=target.cpu, features=target.features, opt=effort, reloc="pic", codemodel="small"
        )
        machines[target, effort] = machine
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


def _emit(text: str, target: Target, effort: int, passes: bool, kind: int) -> bytes:
    machine = _machine(target, effort)
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
