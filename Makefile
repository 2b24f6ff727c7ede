# Environments are made on first use; nothing is installed outside this folder.
PYTHON ?= python3
WORKERS ?= 2
BENCH ?=
MINUTES ?= 2
DEMO ?=
FUZZ ?=
PIP := -m pip --disable-pip-version-check install -qq
BIN := .venv/bin
READY := .venv/.ready
TRITON := .venv-triton/bin
TORCH := .venv-torch/bin
CUDA_TESTS = $(wildcard tests/backends/test_cuda_*.py) tests/data/test_loader_gpu.py tests/nn/test_layers_gpu.py
.PHONY: help test test-torch lint gen demo bench bench-quick bench-rows bench-gpu test-gpu sanitize-gpu test-triton fuzz mutate format clean
.DELETE_ON_ERROR:

help:
	@echo "make test         lint, types, layers and tests        (.venv)"
	@echo "make demo         train a small GPT; DEMO=--resume     (.venv)"
	@echo "make bench        compare with PyTorch and JAX         (.bench, or BENCH_ROOT)"
	@echo "make bench-quick  the same for a few rows"
	@echo "make test-gpu     the tests that need a GPU, with the current python"
	@echo "make sanitize-gpu  the same kernels under compute-sanitizer"
	@echo "make bench-gpu    compare on a GPU, with the current python"
	@echo "make test-triton  CUDA kernels without a GPU           (.venv-triton)"
	@echo "make bench-rows   every op at its benchmark sizes      (.venv)"
	@echo "make gen          write what follows from the op table (.venv)"
	@echo "make fuzz         random programs for MINUTES=2        (.venv)"
	@echo "make mutate       which planted bugs the fuzzer finds  (.venv)"
	@echo "make test-torch   every op against PyTorch             (.venv-torch)"
	@echo "make format       let ruff rewrite what it can"

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python $(PIP) -e ".[dev,demo]"
	@touch $@

.venv-triton/.ready: pyproject.toml
	$(PYTHON) -m venv .venv-triton
	$(TRITON)/python $(PIP) -e ".[dev]" "triton>=3.6,<3.8"
	@touch $@

.venv-torch/.ready: pyproject.toml
	$(PYTHON) -m venv .venv-torch
	$(TORCH)/python $(PIP) -e ".[dev]" "torch==2.13.0" "torchvision==0.28.0" timm transformers gguf
	@touch $@

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/treadle gen --check

gen: $(READY)
	$(BIN)/treadle gen

test: lint
	$(BIN)/python -m pytest -n $(WORKERS) -m "not gpu"

mutate: $(READY)
	$(BIN)/python tests/testing/mutate.py

# NumPy's own threads would only be in the way: every worker keeps a core busy.
fuzz: $(READY)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m treadle.testing.fuzz --minutes $(MINUTES) --workers $(WORKERS) $(FUZZ)

demo: $(READY)
	$(BIN)/treadle train gpt-stdlib $(DEMO)

bench: $(READY)
	$(BIN)/python -m benchmarks.run --setup --limits --redo $(BENCH)

bench-quick: $(READY)
	$(BIN)/python -m benchmarks.run --setup --redo $(BENCH) \
	  --only '^A\.|softmax|layernorm_4096|gemm_(64|512|bias_gelu)$$|conv3x3_16x256x14|mlp|cnn|decode1|attention'

bench-gpu:
	PYTHONPATH=src $(PYTHON) -m benchmarks.gpu_table $(BENCH)

bench-rows: $(READY)
	$(BIN)/python -m benchmarks.rows $(BENCH)

test-gpu:
	PYTHONPATH=src $(PYTHON) -m pytest -m gpu $(CUDA_TESTS)

# Every form of kernel under NVIDIA's checkers: memory out of bounds, then races in shared memory.
# The latter does not know the barriers by which Triton hands over to warps: what it names at the
# lines of `def kernel` and `warp_specialize` is none.
SANITIZER = compute-sanitizer --report-api-errors no --target-processes application-only
PARTS ?= 8
FORMS = $(PYTHON) tests/backends/every_form.py {} $(PARTS)
sanitize-gpu:
	seq $(PARTS) | PYTHONPATH=src xargs -P $(PARTS) -I{} $(SANITIZER) --tool memcheck --error-exitcode 9 $(FORMS)
	seq $(PARTS) | PYTHONPATH=src xargs -P $(PARTS) -I{} $(SANITIZER) --tool racecheck --error-exitcode 9 $(FORMS)

# Each kernel twice: run by Triton's interpreter on the CPU, and compiled for sm_90. A test that
# belongs to one of the two skips itself in the other by looking at TRITON_INTERPRET.
test-triton: .venv-triton/.ready
	TRITON_INTERPRET=1 $(TRITON)/python -m pytest -n $(WORKERS) -m "not gpu" $(CUDA_TESTS)
	TRITON_INTERPRET=0 $(TRITON)/python -m pytest -n $(WORKERS) -m "not gpu" $(CUDA_TESTS)

test-torch: .venv-torch/.ready
	$(TORCH)/python -m pytest -n $(WORKERS) tests/peers

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv .venv-triton .venv-torch .bench build dist .hypothesis .mypy_cache .ruff_cache .pytest_cache
