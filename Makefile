PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXAMPLES ?= 10000

.PHONY: demo test fuzz soak lint types imports clean

demo: $(VENV)/.crawls
	$(BIN)/honeyguide demo --out demo-results --replace

test: $(VENV)/.tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	sh tests/browser.sh
	$(BIN)/pytest -n 2

# for nights: many mutated inputs, others each time; what fails is kept in tests/fuzz/seeds
fuzz: $(VENV)/.tests
	FUZZ_EXAMPLES=$(EXAMPLES) FUZZ_RANDOM=1 $(BIN)/pytest -n 2 --timeout 20000 tests/fuzz

# for nights: crawls that are killed a thousand times, disks that fail at every call
soak: $(VENV)/.tests
	$(BIN)/python benchmarks/soak.py --kills 1000
	$(BIN)/python -m tests.faults.sweep

$(VENV)/.crawls: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --config-settings editable_mode=compat --editable '.[plots]'
	touch $@

$(VENV)/.tests: $(VENV)/.crawls
	$(BIN)/pip install --quiet --constraint constraints.txt --config-settings editable_mode=compat --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) demo-results
