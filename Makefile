# Each target sets up all it needs in .venv, once; demo only the plain package. outputs, pictures: after a
# change of model, let the pages show what the commands in them print now; pictures needs a Chromium.
PYTHON ?= python3
PIP_FLAGS ?=
BIN := .venv/bin
PLAIN := .venv/.plain
READY := .venv/.ready
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check $(PIP_FLAGS) --constraint constraints.txt
TITLE := Dynamic graph networks for keyphrase extraction

.PHONY: demo docs outputs pictures test lint types check-tests

demo: $(PLAIN)
	@$(BIN)/phraseloom extract examples/abstract.txt --title "$(TITLE)" --highlight
	@$(BIN)/phraseloom extract examples/abstract.txt --title "$(TITLE)" --out demo/keyphrases.html
	@$(BIN)/phraseloom graph examples/abstract.txt --title "$(TITLE)" --out demo/graph.html
	@echo "Open demo/keyphrases.html and demo/graph.html in a browser for the pictures."

docs: $(READY)
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "Open site/index.html in a browser; for the search, serve it: python -m http.server -d site"

outputs: $(READY)
	@$(BIN)/python -m docs.tools.refresh
	@$(BIN)/python -m experiments report

pictures: $(READY)
	@PATH="$(BIN):$$PATH" $(BIN)/python -m docs.tools.pictures

test: lint types check-tests

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

check-tests: $(READY)
	$(BIN)/pytest --numprocesses 2 --dist loadfile

$(PLAIN): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "phraseloom needs Python 3.11 or newer; name one: make PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing into .venv (once, about a minute) ..."
	@$(PIP) --editable .
	@touch $@

$(READY): $(PLAIN)
	@echo "Installing what tests and training need (once, a few minutes) ..."
	@$(PIP) --editable '.[dev]'
	@touch $@
