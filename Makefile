# Everything a newcomer needs: `make demo` and `make test`. Both set up a virtual environment first.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo app test check hooks fuzz smoke bench docs generate lock clean

$(VENV)/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "textbayes needs Python 3.11 or newer, this is " + sys.version.split()[0] + ": make PYTHON=python3.12 …")'
	@$(PYTHON) -m venv $(VENV) || { echo "No virtual environment could be made: on Debian and Ubuntu, apt install python3-venv first."; exit 1; }
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

# The locked versions without their hashes, which would be asked of every other package too.
.cache/constraints.txt: requirements.lock
	@mkdir -p .cache
	@sed -n 's/^\([A-Za-z].*\) \\$$/\1/p' requirements.lock > $@

# The first run also compiles what the demo does not use, in the background, so that no later command waits for it.
demo: $(VENV)/.ready
	@[ -e $(VENV)/compile.log ] || nohup nice $(BIN)/textbayes compile --table > $(VENV)/compile.log 2>&1 < /dev/null &
	$(BIN)/textbayes demo

# The review room in the browser, with a project to try it on.
app: $(VENV)/.ready
	$(BIN)/textbayes app --sample

test: $(VENV)/.ready
	$(BIN)/python -m pytest -n auto --dist worksteal -q

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

# Mutated model files, snapshots and inputs of every format, as many as one likes: make fuzz MUTATIONS=20000 SEED=1.
MUTATIONS ?= 20000
SEED ?= 0
fuzz: $(VENV)/.ready
	$(BIN)/python tests/fuzz/model_file.py --mutations $(MUTATIONS) --seed $(SEED)
	$(BIN)/python tests/fuzz/snapshots.py --mutations $(MUTATIONS) --seed $(SEED)
	$(BIN)/python tests/fuzz/importers.py --mutations $(MUTATIONS) --seed $(SEED)
	$(BIN)/python tests/fuzz/prior_tables.py --mutations $(MUTATIONS) --seed $(SEED)

# A first session without extras: with the newest versions, then with the lowest that pyproject.toml allows.
RESOLUTIONS ?= highest lowest-direct
smoke: $(VENV)/.ready
	@mkdir -p .cache
	@set -e; for resolution in $(RESOLUTIONS); do \
	  rm -rf .cache/smoke && $(PYTHON) -m venv .cache/smoke; \
	  $(BIN)/uv pip compile --quiet --no-header --no-annotate --only-binary :all: --resolution $$resolution \
	    --python .cache/smoke/bin/python pyproject.toml --output-file .cache/smoke/versions.txt; \
	  .cache/smoke/bin/pip install --quiet --disable-pip-version-check -r .cache/smoke/versions.txt; \
	  .cache/smoke/bin/pip install --quiet --disable-pip-version-check --no-deps .; \
	  .cache/smoke/bin/python -P .ci/smoke.py; \
	done

# Rewrites requirements.lock from pyproject.toml: exact versions with hashes, for all platforms, no index addresses.
lock: $(VENV)/.ready
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --upgrade --generate-hashes --no-header --no-annotate \
	  --extra dev pyproject.toml --output-file requirements.lock

clean:
	rm -rf $(VENV) .cache build dist docs/_build
