# Two commands do everything: `make demo` and `make test`. Each sets up what it needs in .venv.
PYTHON ?= python3
PROFILE ?= params/demo.yaml
BIN := .venv/bin

.PHONY: demo paper figures test lint lab clean

demo: PROFILE = params/demo.yaml
demo: figures  ## agents, judge, scores and every figure, offline and without a key

paper: PROFILE = params/paper.yaml
paper: figures  ## the same figures from the paper's published tables

figures: .venv/ready  ## the notebooks of any profile: make figures PROFILE=params/my.yaml
	$(BIN)/python -m lifesearch_kit.batch $(PROFILE)

test: .venv/ready-test lint  ## linter, type checker, tests, every notebook
	$(BIN)/python -m pytest tests
	$(BIN)/python -m pytest --nbval-lax --nbval-sanitize-with tests/nbval_sanitize.cfg notebooks

lint: .venv/ready-test
	$(BIN)/ruff check lifesearch_kit tests
	$(BIN)/mypy

lab: .venv/ready  ## JupyterLab with the kit's kernel
	$(BIN)/jupyter lab notebooks

clean:
	rm -rf .venv data/runs figures/demo figures/paper

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/ready: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

.venv/ready-test: .venv/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	touch $@
