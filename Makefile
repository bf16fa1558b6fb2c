# `make demo` shows Mixscope on a real model, `make test` runs every test.

PYTHON ?= python3
ENVIRONMENT := .venv
RUN := $(ENVIRONMENT)/bin/python

.PHONY: demo demo-all test test-fast check docs lock clean

demo: $(ENVIRONMENT)/demo-installed  ## build the demo statistics and serve the dashboard meanwhile
	$(RUN) -m precompute demo --first
	@echo "Dashboard: http://127.0.0.1:8501 (the rest is computed meanwhile: statistics/demo.log)"
	@$(RUN) -m precompute demo > statistics/demo.log 2>&1 & \
	trap "kill $$! 2>/dev/null" EXIT INT TERM; $(RUN) -m streamlit run app.py

demo-all: $(ENVIRONMENT)/demo-installed  ## the same, with the small models of Japanese and of copying, and two trained ones (500 MB)
	$(RUN) -m pip install --quiet --editable '.[japanese]'
	$(RUN) -m precompute demo --first
	@echo "Dashboard: http://127.0.0.1:8501 (the rest is computed meanwhile: statistics/demo.log)"
	@$(RUN) -m precompute demo --all > statistics/demo.log 2>&1 & \
	trap "kill $$! 2>/dev/null" EXIT INT TERM; $(RUN) -m streamlit run app.py

test: $(ENVIRONMENT)/tests-installed  ## run the whole suite
	$(RUN) -m pytest

test-fast: $(ENVIRONMENT)/tests-installed  ## run the inner loop: one family, no browser, no kills
	$(RUN) -m pytest --fast

check: $(ENVIRONMENT)/tests-installed  ## look for faults without running anything
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m pyright --pythonpath $(RUN)

docs: $(ENVIRONMENT)/tests-installed  ## build the site of docs/ into site/; a broken link fails
	NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --quiet

lock: $(ENVIRONMENT)/tests-installed  ## write the hashes of all that requirements.txt brings with it
	$(RUN) -m uv pip compile requirements.txt --constraints requirements-dev.txt --output-file requirements.lock \
		--universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url --no-config --quiet

clean:  ## remove the environment and the site
	rm -rf $(ENVIRONMENT) site

$(ENVIRONMENT)/bin/python:
	$(PYTHON) -m venv $(ENVIRONMENT)

$(ENVIRONMENT)/demo-installed: pyproject.toml requirements.txt | $(ENVIRONMENT)/bin/python
	$(RUN) -m pip install --quiet --editable .
	@touch $@

$(ENVIRONMENT)/tests-installed: pyproject.toml requirements-dev.txt requirements.txt | $(ENVIRONMENT)/bin/python
	$(RUN) -m pip install --quiet -r requirements-dev.txt --editable .
	$(RUN) -m pip install --quiet --upgrade --no-deps --target $(ENVIRONMENT)/duckdb-1.4 duckdb==1.4.5
	$(RUN) -c "from precompute.demo import install_demo_model; install_demo_model()"
	@touch $@
