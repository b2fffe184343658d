# make demo          build, simulate examples/bouncing_ball.mo, say where the results are
# make test          everything that must hold
# make update-suite  rewrite the expectations of tests/suite that no longer hold; look at the difference afterwards
# make soak          the same tests for longer: more random cases, ten million events in one run
# make bench         benchmarks
# make picture       the picture in the README, from a run of the demo

CARGO ?= cargo
TARGET := $(or $(CARGO_TARGET_DIR),target)
SALTUS := $(TARGET)/release/saltus
# Dependencies compile once: every goal uses the release profile.
PROFILE := --release

.PHONY: demo picture test update-suite soak bench build setup format lint clean
.DEFAULT_GOAL := demo

demo: setup
	$(CARGO) build $(PROFILE) -p saltus-cli
	mkdir -p out
	$(SALTUS) simulate examples/bouncing_ball.mo --output out/bouncing_ball.csv --plot h,v
	@echo
	@echo "trajectory: out/bouncing_ball.csv"
	@echo "picture:    out/bouncing_ball.svg"

picture: demo
	mkdir -p docs/images
	cp out/bouncing_ball.svg docs/images/bouncing_ball.svg

# One compilation: tests and programs are built with the same features.
test: setup format
	$(CARGO) test $(PROFILE) --workspace
	@$(MAKE) --no-print-directory lint

update-suite: setup build
	SALTUS_UPDATE=1 $(CARGO) test $(PROFILE) -p saltus-testkit --test suite -- --nocapture

soak: setup build
	PROPTEST_CASES=$(or $(PROPTEST_CASES),20000) $(CARGO) test $(PROFILE) --workspace
	$(CARGO) test $(PROFILE) -p saltus-testkit --test soak -- --ignored --nocapture

bench: setup build
	$(SALTUS) bench

build:
	$(CARGO) build $(PROFILE) --workspace

# Only if the tools are there; a toolchain need not have them.
format:
	@if $(CARGO) fmt --version >/dev/null 2>&1; then $(CARGO) fmt --all --check; else echo "rustfmt is not installed: skipped"; fi

# Warnings are shown and do not fail.
lint:
	@if $(CARGO) clippy --version >/dev/null 2>&1; then \
	  $(CARGO) clippy $(PROFILE) --workspace --all-targets || echo "clippy found errors (not fatal)"; \
	else echo "clippy is not installed: skipped"; fi

# A fresh Debian with a Rust toolchain may lack the linker.
setup:
	@command -v $(CARGO) >/dev/null 2>&1 || { \
	  echo "cargo was not found: install a Rust toolchain (1.95 or newer) and put it on the PATH" >&2; exit 1; }
	@command -v cc >/dev/null 2>&1 || { \
	  echo "no C linker: installing build-essential"; \
	  if [ "$$(id -u)" = 0 ]; then run=; else run=sudo; fi; \
	  $$run apt-get update && $$run env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends build-essential; }

clean:
	$(CARGO) clean
	rm -rf out
