# The two commands of the README are `make run` and `make test`; both set up first.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
BIN := .venv/bin
# test files run side by side, each worker with a PostgreSQL of its own; much of their time is waiting
WORKERS ?= 3

.PHONY: setup setup-dev run test lint quick check format lock sbom bench clean

setup: .venv/.ready

setup-dev: .venv/.ready-dev

.venv/.ready: requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Medir needs Python 3.11 or newer; install it, or name one: make PYTHON=/path/to/python3.12"; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is older than Python 3.11; name a newer one: make PYTHON=/path/to/python3.12"; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv || { echo "Python can't make a virtual environment here; on Debian: apt install python3-venv"; exit 2; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

.venv/.ready-dev: .venv/.ready requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.lock
	@touch $@

run: setup
	@$(BIN)/medir up

# one thread a multiplication, as `medir` has it: threads that wait for each other take four times the processor
test quick: export OPENBLAS_NUM_THREADS ?= 1
# what one process has compiled, the hundreds that tests start read
test quick: export PYTHONDONTWRITEBYTECODE =

test: setup-dev
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

# format, lint, types, import contracts
lint: setup-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports

# what needs no PostgreSQL, with a quarter of each property's examples; `make test` has the rest
quick: setup-dev
	$(BIN)/python -m pytest -q -n 2 --dist worksteal --hypothesis-profile=fast tests/unit tests/property tests/contract

# both of them, side by side: the types take as long as the tests
check: setup-dev
	@$(MAKE) --no-print-directory -j2 lint quick

format: setup-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# exact versions and their files' digests, for every Python from 3.11 on, without addresses
lock:
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-header --no-annotate --no-emit-index-url --no-emit-find-links pyproject.toml --output-file requirements.lock
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-header --no-annotate --no-emit-index-url --no-emit-find-links --extra dev pyproject.toml --output-file requirements-dev.lock

# a bill of materials (CycloneDX) of all that a fresh installation holds, read from one that is made for it
sbom:
	@scratch=$$(mktemp -d) && trap 'rm -rf "$$scratch"' EXIT && \
	$(PYTHON) -m venv --without-pip $$scratch/product && $(PYTHON) -m venv $$scratch/tool && \
	$$scratch/tool/bin/python -m pip install --quiet --disable-pip-version-check cyclonedx-bom==7.5.0 && \
	$$scratch/tool/bin/python -m pip --python $$scratch/product/bin/python install --quiet --disable-pip-version-check -r requirements.lock && \
	$$scratch/tool/bin/python -m pip --python $$scratch/product/bin/python install --quiet --disable-pip-version-check --no-deps . && \
	$$scratch/tool/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --output-file sbom.cdx.json $$scratch/product/bin/python && \
	echo "Wrote sbom.cdx.json."

bench: setup-dev
	@for program in bench/measure_*.py; do echo "== $$program"; $(BIN)/python $$program || exit 1; done

clean:
	rm -rf .venv build dist
