PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test soak lint types imports clean

demo: $(VENV)/.crawls
	$(BIN)/honeyguide demo --out demo-results --replace

test: $(VENV)/.tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	sh tests/browser.sh
	$(BIN)/pytest -n 2

soak: $(VENV)/.tests
	$(BIN)/python benchmarks/soak.py --kills 1000
	$(BIN)/python -m tests.faults.sweep

$(VENV)/.crawls: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable .
	touch $@

$(VENV)/.tests: $(VENV)/.crawls
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) demo-results
