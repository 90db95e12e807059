# Everything runs in an environment of its own, .venv, which is made at first and kept while the pins in
# requirements/ stay the same. Python 3.11 (Blender 5.0) or 3.13 (Blender 5.2): make PYTHON=python3.13 test
PYTHON ?= python3
VENV ?= .venv
RUN = $(VENV)/bin/python
ARGS ?=
# empty: Python keeps its bytecode. Tests start many processes, each 0.4 s sooner with it, and collect in 4 s, not 16
export PYTHONDONTWRITEBYTECODE =
# tests run in so many processes; one that is done takes over half of what another has left
PROCESSES ?= 2

# what Numba's and llvmlite's changes would break first
NEWEST_TESTS ?= $(addprefix tests/test_,$(addsuffix .py,kernel_cache kernels_loaded kernels_inside simd_vec3 spmv_row \
    worker_team thread_pool step_linear multigrid_solve))

.PHONY: help environment demo test test-all coverage validate papers bench lint types zip test-installed test-window window-blender test-windows \
    test-newest clean

help:
	@echo "make demo            build the demo scenes, bake one, render it"
	@echo "make test            the tests but for the slow ones (ARGS='-k name' for some of them)"
	@echo "make test-all        all tests but for the long ones: whole bakes, children, demos and papers, too"
	@echo "make coverage        how many lines of solver/ and addon/ the tests of make test run"
	@echo "make validate        the long checks: long tests, tests/validate_*.py (ARGS='--fuzz-seed 7' for other damage)"
	@echo "make papers          the papers' experiments, into docs/papers.md (ARGS='NAME …' for some, --list names them)"
	@echo "make bench           speed, beside others, into docs/performance.md (ARGS='NAME …' for some, --list names them)"
	@echo "make lint types      ruff; mypy"
	@echo "make zip             the extension, one zip per system and Blender (ARGS=--help for less)"
	@echo "make test-installed  the zip installed in Blender 4.5, 5.0 and, with Python 3.13, 5.2 without a window"
	@echo "make test-window     the zip in a real Blender window, with the mouse (root, Debian)"
	@echo "make window-blender  only make the Blender and the zip for it"
	@echo "make test-windows    the zip for Windows on Windows' own Python, by Wine (root, Debian)"
	@echo "make test-newest     some tests with the newest Numba and llvmlite: printed, never a failure"
	@echo "make clean           remove what was built; the environment stays"

environment:
	@$(PYTHON) scripts/environment.py $(VENV)

demo: environment
	$(RUN) demo_blends/make_demo.py $(ARGS)

test: environment
	$(RUN) -m pytest -n $(PROCESSES) --dist worksteal -m "not slow" $(ARGS)

test-all: environment
	$(RUN) -m pytest -n $(PROCESSES) --dist worksteal -m "not long" --durations 40 $(ARGS)

# kernels are not counted: the compiler runs them, and tests compare each with a reference
coverage: environment
	@mkdir -p build/coverage
	$(RUN) -m coverage erase
	$(RUN) -m coverage run -m pytest -n $(PROCESSES) --dist worksteal -q -m "not slow" $(ARGS)
	$(RUN) -m coverage combine -q
	@for room in solver addon; do \
	    echo "$$room: $$($(RUN) -m coverage report --include="$$room/*" --format=total) % of its lines"; done

# what a clock judges comes last, alone; all parts run, whatever those before them found
validate: environment
	@failed=0; \
	$(RUN) -m pytest -n $(PROCESSES) --dist worksteal -m long $(ARGS) || failed=1; \
	$(RUN) -m pytest -n $(PROCESSES) --dist worksteal -m "not timed" $(ARGS) tests/validate_*.py || failed=1; \
	$(RUN) -m pytest -s -m timed $(ARGS) tests/validate_*.py || failed=1; \
	exit $$failed

papers: environment
	$(RUN) benchmarks/papers $(ARGS)

# alone on the machine; adds what it compares with to the environment
bench:
	@$(PYTHON) scripts/environment.py $(VENV) --peers
	$(RUN) benchmarks/speed $(ARGS)

lint: environment
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .

types: environment
	@mkdir -p build/typecheck
	@ln -sfn ../.. build/typecheck/sinew
	$(RUN) -m mypy
	$(RUN) -m mypy --config-file tests/mypy.ini tests/validate_*.py
	$(RUN) -m mypy --config-file tests/mypy.ini -p speed -p papers

zip: environment
	$(RUN) scripts/build_zip.py $(ARGS)

test-installed: environment
	$(RUN) scripts/build_zip.py --python cp311 --platform linux-x64
	$(PYTHON) scripts/environment.py build/installed/blender-4.5 requirements/blender-oldest.txt
	$(PYTHON) scripts/environment.py build/installed/blender-5.0 requirements/blender.txt
	$(RUN) tests/installed/run.py build/installed/blender-4.5 build/installed/blender-5.0
	@if python3.13 -c "" 2>/dev/null; then \
	    $(RUN) scripts/build_zip.py --python cp313 --platform linux-x64 && \
	    python3.13 scripts/environment.py build/installed/blender-5.2 requirements/blender.txt && \
	    $(RUN) tests/installed/run.py build/installed/blender-5.2; \
	else echo "no python3.13 here: the zip for Blender 5.2 was not tried"; fi

test-window: environment
	tests/window/run.sh

window-blender: environment
	tests/window/run.sh prepare

test-windows: environment
	tests/windows/run.sh

test-newest:
	@$(PYTHON) -m venv build/newest
	build/newest/bin/python -m pip install --quiet --disable-pip-version-check --upgrade numba llvmlite scipy pytest hypothesis
	build/newest/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	build/newest/bin/python -c "import llvmlite, numba, numpy, scipy; print(*(f'{m.__name__} {m.__version__}' for m in (numba, llvmlite, numpy, scipy)))"
	-build/newest/bin/python -m pytest -q $(NEWEST_TESTS)

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -not -path './.venv*' -prune -exec rm -rf {} +
