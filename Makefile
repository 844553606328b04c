SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
GEN := services
KAFKA := cd tests && ../$(BIN)/python -m support.kafka
KAFKA_DIR ?= build/kafka/node
KAFKA_PORT ?= 0

.PHONY: help setup run demo test kafka-up kafka-down kafka-fetch check format proto proto-fresh breaking bench golden clauses-doc lock clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-14s %s\n", $$1, $$2}'

setup: .venv/ready ## a virtual environment with all that is needed, pinned

.venv/ready: requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "caipan needs Python 3.11 or later; name one with: make PYTHON=python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "setup: installing the pinned packages (once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

run: setup ## the service on this machine: gRPC on 127.0.0.1:50051, its log in ./data
	@exec $(BIN)/caipan up

demo: setup ## starts a service, sends a real game with an incident, shows what comes of it
	@$(BIN)/caipan demo

test: setup ## all tests; those on Kafka need Java and Maven
	@$(BIN)/pytest -n 2 tests

kafka-up: setup ## a Kafka to develop with, in the background; tells its address (KAFKA_PORT=9092 fixes the port)
	@$(KAFKA) up --folder "$(abspath $(KAFKA_DIR))" --port $(KAFKA_PORT)

kafka-down: setup ## stops it; its data stay in build/kafka/node
	@$(KAFKA) down --folder "$(abspath $(KAFKA_DIR))"

kafka-fetch: setup ## gets Kafka by Maven into build/kafka/libs, as the tests and kafka-up do when they first need it
	@$(KAFKA) fetch

check: setup proto-fresh ## style, types, layers, protos
	@$(BIN)/ruff check services tests
	@$(BIN)/ruff format --check services tests
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/buf lint

format: setup ## formats code and protos
	@$(BIN)/ruff format services tests
	@$(BIN)/ruff check --fix services tests
	@$(BIN)/buf format -w --path proto/caipan

proto: setup ## writes the generated stubs again
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m grpc_tools.protoc -Iproto --python_out=$(GEN) --mypy_out=quiet:$(GEN) --grpc_python_out=$(GEN) \
	  --mypy_grpc_out=quiet:$(GEN) proto/caipan/v1/*.proto
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m grpc_tools.protoc -Iproto --python_out=$(GEN) --mypy_out=quiet:$(GEN) proto/buf/validate/validate.proto
	@for f in $(GEN)/caipan/v1/*_pb2_grpc.py; do grep -q '_service.proto' $$f || grep -q 'Stub' $$f || rm -f $$f $${f}i; done

proto-fresh: setup ## whether the generated stubs are those of the protos
	@tmp=$$(mktemp -d); trap 'rm -rf "$$tmp"' EXIT; $(MAKE) --no-print-directory proto GEN=$$tmp >/dev/null; \
	  diff -r -x __pycache__ -x __init__.py $$tmp/caipan/v1 services/caipan/v1 && diff -r -x __pycache__ -x __init__.py $$tmp/buf services/buf \
	  || { echo "the stubs are stale: run make proto and commit"; exit 1; }

breaking: setup ## reports what breaks readers of the last commit's protos (no failure before v1.0)
	@$(BIN)/buf breaking --against '.git#ref=HEAD' || echo "buf breaking: reported above; the schema may change until v1.0"

bench: setup ## speed and size, each beside its yardstick
	@cd tests && ../$(BIN)/python -m bench

golden: setup ## writes the golden logs again; say in CHANGELOG under "verdicts" why
	@$(BIN)/python tests/golden/make_golden.py

clauses-doc: setup ## writes docs/clauses.md: from a clause to its code and its tests
	@$(BIN)/python tests/clauses/make_document.py

lock: ## pins the newest versions (needs uv)
	@for f in run dev; do uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header requirements/$$f.in -o requirements/$$f.txt; done

clean: ## removes what was built, the Kafka to develop with included; keeps ./data
	@if test -d build/kafka/node; then cd tests && $(firstword $(wildcard $(CURDIR)/$(BIN)/python) $(PYTHON)) -m support.kafka down; fi
	@rm -rf .venv build dist .mypy_cache .ruff_cache .hypothesis
