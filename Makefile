# `make demo` shows Mixscope on a real model, `make test` runs every test.

PYTHON ?= python3
ENVIRONMENT := .venv
RUN := $(ENVIRONMENT)/bin/python

.PHONY: demo test check mutate clean

demo: $(ENVIRONMENT)/demo-installed  ## build the demo statistics and serve the dashboard
	$(RUN) -m precompute demo
	@echo "Dashboard: http://127.0.0.1:8501"
	$(RUN) -m streamlit run app.py

test: $(ENVIRONMENT)/tests-installed  ## run the whole suite
	$(RUN) -m pytest

check: $(ENVIRONMENT)/tests-installed  ## look for faults without running anything
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m pyright --pythonpath $(RUN)

mutate: $(ENVIRONMENT)/tests-installed  ## change formulas one by one and see a test fail: hours
	nice -n 15 $(RUN) -m tests.mutation

clean:  ## remove the environment
	rm -rf $(ENVIRONMENT)

$(ENVIRONMENT)/bin/python:
	$(PYTHON) -m venv $(ENVIRONMENT)

$(ENVIRONMENT)/demo-installed: requirements.txt | $(ENVIRONMENT)/bin/python
	$(RUN) -m pip install --quiet -r requirements.txt
	@touch $@

$(ENVIRONMENT)/tests-installed: requirements-dev.txt requirements.txt | $(ENVIRONMENT)/bin/python
	$(RUN) -m pip install --quiet -r requirements-dev.txt
	$(RUN) -c "from precompute.models.install_demo import install_demo_model; install_demo_model()"
	@touch $@
