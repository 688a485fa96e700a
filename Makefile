# Two commands do everything: `make demo` and `make test`. Each sets up what it needs in .venv.
PYTHON ?= python3
PROFILE ?= params/demo.yaml
LOCAL_PROFILE ?= params/local.yaml
BIN := .venv/bin
# The other notebooks read what the first one leaves behind.
RUN := notebooks/04_run_and_grade.ipynb
NOTEBOOKS := $(RUN) $(filter-out $(RUN),$(wildcard notebooks/*.ipynb))

.PHONY: demo demo-local recorded paper figures test notebooks lint lab clean

demo: PROFILE = params/demo.yaml
demo: figures  ## agents, judge, scores and every figure, offline and without a key

# MODEL=FILE.gguf serves another model, SERVER=ADDRESS asks a server that runs already: then no model is downloaded.
LOCAL_READY = $(if $(SERVER),.venv/ready,$(if $(MODEL),.venv/ready-server,.venv/ready-local))
LOCAL_OPTIONS = $(if $(SERVER),--server "$(SERVER)",$(if $(MODEL),--model "$(MODEL)"))
demo-local: $(LOCAL_READY)  ## a real language model on this machine, without a key; 1.1 GB to download, once
	$(BIN)/python -m lifesearch_kit.local "$(LOCAL_PROFILE)" $(LOCAL_OPTIONS)

RECORDED := data/demo/recorded
recorded: $(LOCAL_READY)  ## what that model did on the whole demo, made again for a commit; hours
	$(BIN)/python -m lifesearch_kit.local params/recorded.yaml --slots 1 $(LOCAL_OPTIONS)
	rm -rf $(RECORDED) && mkdir -p $(RECORDED)
	cp data/runs/recorded-judges/judges.jsonl data/runs/recorded-judges/judgments.jsonl $(RECORDED)
	cp -R data/runs/recorded/systems.jsonl data/runs/recorded/reports.jsonl data/runs/recorded/transcripts $(RECORDED)

paper: PROFILE = params/paper.yaml
paper: figures  ## the same figures from the paper's published tables

figures: .venv/ready  ## the notebooks of any profile: make figures PROFILE=params/my.yaml
	$(BIN)/python -m lifesearch_kit.batch "$(PROFILE)"

test: .venv/ready-test lint  ## linter, type checker, tests, every notebook
	$(BIN)/python -m pytest tests
	$(BIN)/python -m pytest --nbval-lax --nbval-sanitize-with tests/nbval_sanitize.cfg $(NOTEBOOKS)

notebooks: .venv/ready-test  ## execute the notebooks anew and keep their text outputs, for a commit
	$(BIN)/python tests/refresh_notebooks.py

lint: .venv/ready-test
	$(BIN)/ruff check lifesearch_kit tests
	$(BIN)/ruff format --check lifesearch_kit tests
	$(BIN)/mypy

lab: .venv/ready  ## JupyterLab with the kit's kernel
	$(BIN)/jupyter lab notebooks

clean:  ## the environment and what the demo made; runs of your own stay
	rm -rf .venv figures/*/ data/runs/demo data/runs/demo-judges data/runs/start

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/ready: .venv/bin/python pyproject.toml constraints.txt
	@echo "Installing the packages into .venv: a minute or two, once."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

.venv/ready-test: .venv/ready
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	@touch $@

.venv/ready-server: LOCAL_PACKAGES = lifesearch_kit/local/requirements-server.txt
.venv/ready-local: LOCAL_PACKAGES = lifesearch_kit/local/requirements.txt
.venv/ready-server .venv/ready-local: .venv/ready $(wildcard lifesearch_kit/local/requirements*.txt)
	@echo "Installing $(LOCAL_PACKAGES) into .venv: minutes, once."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--require-hashes --no-deps --only-binary :all: -r $(LOCAL_PACKAGES) >$@.log 2>&1 || \
		{ grep '^ERROR' $@.log | tail -n 1 >&2; \
		echo "$(LOCAL_PACKAGES) cannot be installed here (pip's own words: $@.log). The model server has wheels for" \
		"Linux, macOS 13 and Windows; elsewhere start any OpenAI-compatible server: make demo-local SERVER=ADDRESS" >&2; \
		exit 1; }
	@touch $@
