"""Where each column runs: its interpreter, its packages and its environment variables."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
ROOT = Path(os.environ.get("BENCH_ROOT") or REPOSITORY / ".bench").resolve()
THREADS = int(os.environ.get("BENCH_THREADS", "2"))


@dataclass(frozen=True)
class Column:
    """A column of the table; no folder: the interpreter that runs the benchmark."""

    module: str
    folder: str = ""
    packages: tuple[str, ...] = ()
    optional: bool = False  # where its packages cannot be had, the table goes without it

    @property
    def python(self) -> Path:
        """The interpreter that has the framework."""
        return ROOT / self.folder / "bin" / "python" if self.folder else Path(sys.executable)


_TORCH = Column("benchmarks.peers.pytorch", "v_torch", ("torch==2.13.0", "numpy", "setuptools"))
_JAX = Column("benchmarks.peers.jax_jit", "v_jax", ("jax", "numpy"))
_ONNX = Column(
    "benchmarks.peers.onnx_runtime", "v_onnx", ("onnx", "onnxruntime", "numpy"), optional=True
)
_TREADLE = Column("benchmarks.treadle_plugin")

COLUMNS = {
    "torch": _TORCH,
    "torch.compile": _TORCH,
    "jax.jit": _JAX,
    "onnxruntime": _ONNX,
    "treadle": _TREADLE,
    "treadle.compile": _TREADLE,
}


def prepare(names: list[str]) -> None:
    """Make the environments of these columns where they are absent."""
    for column in {COLUMNS[name] for name in names}:
        ready = ROOT / column.folder / ".ready"
        if not column.folder or ready.exists() or _has_packages(column):
            continue
        print(f"making {ROOT / column.folder} with {', '.join(column.packages)}", flush=True)
        venv.create(ROOT / column.folder, with_pip=True, clear=True)
        pip = [str(column.python), "-m", "pip", "--disable-pip-version-check", "install", "-qq"]
        installed = subprocess.run([*pip, *column.packages], check=not column.optional)
        if installed.returncode == 0:
            ready.touch()


def present(names: list[str]) -> list[str]:
    """The columns that can run: optional ones only where their packages are."""
    return [n for n in names if not COLUMNS[n].optional or _has_packages(COLUMNS[n])]


def _has_packages(column: Column) -> bool:
    """An environment made by hand counts too."""
    if not column.python.exists():
        return False
    modules = ", ".join(p.split("=")[0] for p in column.packages if p != "setuptools")
    return subprocess.run([column.python, "-c", f"import {modules}"], check=False).returncode == 0


def variables() -> dict[str, str]:
    """The environment of every worker: the same number of threads for everybody."""
    threads = dict.fromkeys(
        ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TREADLE_THREADS"),
        str(THREADS),
    )
    paths = os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "src")])
    fixed = {"PYTHONHASHSEED": "0", "PYTHONPATH": paths, "JAX_PLATFORMS": "cpu"}
    return os.environ | threads | fixed
