# Everything a newcomer needs: `make demo` and `make test`. Both set up a virtual environment first.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo app test test-gpu test-encoder check hooks fuzz dist smoke bench docs generate papers lock clean

# uv leaves compiling to bytecode to the first import, so that only what is imported is compiled; let Python keep it.
export PYTHONDONTWRITEBYTECODE =

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "textbayes needs Python 3.11 or newer, this is " + sys.version.split()[0] + ": make PYTHON=python3.12 …")'
	@$(PYTHON) -m venv $(VENV) || { echo "No virtual environment could be made: on Debian and Ubuntu, apt install python3-venv first."; exit 1; }

# What the demo needs, and what everything needs: the second is added to the first.
$(VENV)/.demo: requirements-demo.lock pyproject.toml | $(BIN)/python
	$(BIN)/python .ci/install.py requirements-demo.lock
	@touch $@

$(VENV)/.ready: requirements.lock pyproject.toml | $(BIN)/python
	$(BIN)/python .ci/install.py requirements.lock
	@touch $(VENV)/.demo $@

# The locked versions without their hashes, which would be asked of every other package too.
.cache/constraints.txt: requirements.lock
	@mkdir -p .cache
	@sed -n 's/^\([A-Za-z].*\) \\$$/\1/p' requirements.lock > $@

demo: $(VENV)/.demo
	$(BIN)/textbayes demo

# The review room in the browser, with a project to try it on.
app: $(VENV)/.ready
	$(BIN)/textbayes app --sample

test: $(VENV)/.ready
	$(BIN)/python -m pytest -n auto --dist worksteal -q

# What runs on a graphics card, on one; without PyTorch or a card tests are skipped with the reason.
test-gpu: $(VENV)/.ready
	$(BIN)/python -m pytest -q -rs tests/unit/inference/test_gpu.py tests/contract/test_inference.py tests/unit/models/encoder -k gpu

# Encoders on the CPU, with PyTorch of the version that the machines of CI have at hand; it stays out of the lock.
test-encoder: $(VENV)/.ready .cache/constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint .cache/constraints.txt 'torch==2.13.0' 'transformers>=5'
	$(BIN)/python -m pytest -q -rs tests/unit/models/encoder tests/unit/text/test_tokens.py tests/interface/test_encoder.py tests/unit/inference/test_gpu.py

check: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Lets git run the checks before each commit, and measure its subject.
hooks: $(VENV)/.ready
	$(BIN)/pre-commit install

bench: $(VENV)/.ready .cache/constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint .cache/constraints.txt 'skglm>=0.5' 'river>=0.26' 'numpyro>=0.15'
	@set -e; for script in benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python $$script; done

docs: $(VENV)/.ready .cache/constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint .cache/constraints.txt 'sphinx>=8' 'numpydoc>=1.8' 'myst-parser>=4' \
	  'pydata-sphinx-theme>=0.16' 'sphinx-design>=0.6' 'sphinx-copybutton>=0.5'
	$(BIN)/sphinx-build -W -q -b html docs docs/_build/html

# Rewrites the generated blocks and example outputs of README.md and docs/ (about two minutes).
generate: $(VENV)/.ready
	$(BIN)/python docs/generate.py

# Runs the papers' exhibits again and rewrites their pages (hours); with SAMPLE=1 a few of them, and fails where a page differs.
papers: $(VENV)/.ready
	$(BIN)/python docs/reprint.py $(if $(SAMPLE),--sample)

# Mutated model files, snapshots and inputs of every format, as many as one likes: make fuzz MUTATIONS=20000 SEED=1.
MUTATIONS ?= 20000
SEED ?= 0
fuzz: $(VENV)/.ready
	$(BIN)/python tests/fuzz/model_file.py --mutations $(MUTATIONS) --seed $(SEED)
	$(BIN)/python tests/fuzz/snapshots.py --mutations $(MUTATIONS) --seed $(SEED)
	$(BIN)/python tests/fuzz/importers.py --mutations $(MUTATIONS) --seed $(SEED)
	$(BIN)/python tests/fuzz/prior_tables.py --mutations $(MUTATIONS) --seed $(SEED)

# The source distribution, and the wheel built from it: what `pip install textbayes` would bring.
dist: $(VENV)/.demo
	rm -rf dist
	$(BIN)/uv build --quiet --out-dir dist
	$(BIN)/python .ci/check_dist.py dist

# A first session with the wheel in an empty environment, without extras: with the newest versions, then with the lowest
# that pyproject.toml allows. With the newest the demo follows, which needs its extra.
RESOLUTIONS ?= highest lowest-direct
smoke: dist
	@mkdir -p .cache
	@set -e; for resolution in $(RESOLUTIONS); do \
	  rm -rf .cache/smoke && $(PYTHON) -m venv .cache/smoke; \
	  $(BIN)/uv pip compile --quiet --no-header --no-annotate --only-binary :all: --resolution $$resolution \
	    --python .cache/smoke/bin/python pyproject.toml --output-file .cache/smoke/versions.txt; \
	  $(BIN)/uv pip install --quiet --python .cache/smoke/bin/python -r .cache/smoke/versions.txt; \
	  .cache/smoke/bin/pip install --quiet --disable-pip-version-check --no-deps dist/*.whl; \
	  .cache/smoke/bin/python -P .ci/smoke.py; \
	  [ $$resolution != highest ] || { \
	    .cache/smoke/bin/pip install --quiet --disable-pip-version-check "$$(echo dist/*.whl)[demo]"; \
	    .cache/smoke/bin/python -P .ci/smoke.py --demo; }; \
	done

# Rewrites both locks from pyproject.toml: exact versions with hashes, for all platforms, no index addresses. The demo's
# is a part of the other.
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate pyproject.toml
lock: $(VENV)/.demo
	$(BIN)/$(LOCK) --upgrade --extra dev --output-file requirements.lock
	$(BIN)/$(LOCK) --upgrade --extra demo --constraint requirements.lock --output-file requirements-demo.lock

clean:
	rm -rf $(VENV) .cache build dist docs/_build
