# The newcomer's door. CMake does the work; `make help` lists the targets.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
SECONDS_EACH ?= 600
MAKEFLAGS += --no-print-directory
# A build has jobs of its own: those of this make would be a warning ("-j2 forced in submake").
BUILD = env -u MFLAGS -u MAKELEVEL MAKEFLAGS=--no-print-directory cmake --build

.PHONY: all help demo report test soak determinism bench benchmarks check docs sanitize clang aarch64 x86_64 \
        fuzz install clean ablation python python-check wheel peer-test

all: build/tribo

help:
	@echo "make            build the library and the command line (build/tribo)"
	@echo "make demo       install what is missing, build, and show what Tribo does"
	@echo "make test       install what is missing, build, and run all tests"
	@echo "make python     the Python package in a virtual environment of its own, and its tests"
	@echo "make peer-test  the Python package against mujoco and gymnasium, from PyPI"
	@echo "make soak       every robot, 20 s of drop and of random controls under every law; slow scenes"
	@echo "make determinism  the same bits by gcc and clang, -O1 to -O3, 1 to 4 threads"
	@echo "make bench      the report: every table and figure of the papers, into report/index.html"
	@echo "make ablation   steps with and without each mechanism of the solvers"
	@echo "make benchmarks build what \`tribo bench\` runs"
	@echo "make report     its short form, a few minutes, into build/report/index.html"
	@echo "make check      format, layers, headers, links of the docs, static analysis"
	@echo "make docs       the documentation as a site, into build/site (needs Python and network once)"
	@echo "make sanitize   unit tests under address, undefined-behaviour and thread sanitizers"
	@echo "make clang      build everything with clang too: the same bits as gcc's"
	@echo "make aarch64    cross-compile for 64-bit ARM and run the unit tests under qemu;"
	@echo "                make x86_64 does it for a PC on an ARM machine"
	@echo "make fuzz       fuzz every reader for SECONDS_EACH=600 seconds each"
	@echo "make install    install to PREFIX=/usr/local"

.PHONY: build/tribo
build/tribo: setup-build
	@cmake --preset release -DTRIBO_BUILD_TESTS=OFF -DTRIBO_BUILD_BENCH=OFF >/dev/null
	@$(BUILD) build -j$(JOBS) --target tribo tribo_static tribo_shared

.PHONY: setup-build setup-test setup-bench setup-check setup-python
setup-build setup-test setup-bench setup-check setup-python:
	@scripts/setup.sh $(@:setup-%=%)

demo: setup-build
	@scripts/demo.sh $(JOBS)

test: setup-test
	@cmake --preset release -DTRIBO_BUILD_TESTS=ON -DTRIBO_BUILD_BENCH=ON >/dev/null
	@$(BUILD) build -j$(JOBS)
	@scripts/run_tests.sh build -j$(JOBS)
	@$(MAKE) python

# The package is installed into build/python-env, from the objects of the library's own build.
python: setup-python
	@JOBS=$(JOBS) scripts/python.sh

# Against other packages: MuJoCo's own tests over tribo.mujoco, Gymnasium's tasks, compiled models.
peer-test: setup-python
	@JOBS=$(JOBS) scripts/peer.sh

# ruff, and mypy in its strict mode.
python-check: setup-python
	@JOBS=$(JOBS) scripts/python.sh build >/dev/null
	@scripts/python.sh check

soak: setup-test
	@cmake --preset release -DTRIBO_BUILD_TESTS=ON >/dev/null
	@$(BUILD) build -j$(JOBS) --target test_soak_robots test_behaviour_slow test_derivatives_robots
	@build/test/test_behaviour_slow whole
	@build/test/test_soak_robots --seconds 20
	@TRIBO_TEST_ROBOTS=large build/test/test_derivatives_robots

determinism: setup-test
	@scripts/check_determinism.sh

# The short form of the report, a few minutes: fails where a claim stops holding.
report: benchmarks
	@build/tribo bench papers --short --out build/report

bench: benchmarks
	@build/tribo bench papers --out report

# Every program behind `tribo bench`.
benchmarks: setup-bench
	@cmake --preset release -DTRIBO_BUILD_BENCH=ON >/dev/null
	@$(BUILD) build -j$(JOBS)

# What each mechanism of the solvers and of the rigid law is for (docs: ablation).
ablation: setup-bench
	@cmake --preset release -DTRIBO_BUILD_BENCH=ON >/dev/null
	@$(BUILD) build -j$(JOBS) --target tribo tribo-bench-ablation
	@build/tribo bench ablation --out report/ablation

check: setup-check build/tribo
	@scripts/check_layers.py
	@scripts/check_format.sh
	@scripts/check_headers.sh
	@scripts/check_house.py
	@scripts/check_docs.sh
	@scripts/check_static.sh
	@$(MAKE) python-check

# Notebooks and gallery run while the site is built, so the package is built first.
docs: setup-python
	@scripts/docs.sh

# Every unit test under the address sanitizer; under the thread sanitizer those that start threads and
# those of what threads share (label `threads`). Tests of the command line start it hundreds of times,
# and on 64-bit ARM gcc's search for leaks takes seconds each time (it walks a table of the whole
# address space): there they go without it. Scenes that are simulated until they rest take minutes under
# a sanitizer and reach no code that others do not reach.
LONG = ^behaviour/(cables|rest|robust|scenes_at_rest|turned_machines|vehicles)$$
CLI_LEAKS = $(if $(filter aarch64,$(shell uname -m)),0,1)
sanitize: setup-test
	@cmake --preset asan >/dev/null && $(BUILD) build-asan -j$(JOBS)
	@scripts/run_tests.sh build-asan -j$(JOBS) -LE 'slow|peer|install' -E '^cli/|$(LONG)'
	@ASAN_OPTIONS=detect_leaks=$(CLI_LEAKS) scripts/run_tests.sh build-asan -j$(JOBS) -R '^cli/'
	@cmake --preset tsan >/dev/null && $(BUILD) build-tsan -j$(JOBS) --target thread_tests tribo
	@scripts/run_tests.sh build-tsan -j$(JOBS) -L threads

# Everything by clang as well, warnings as errors; its bits must be those of the release build.
clang: setup-test setup-check
	@cmake --preset clang >/dev/null && $(BUILD) build-clang -j$(JOBS)
	@scripts/same_bits.sh build build-clang

aarch64 x86_64:
	@scripts/setup.sh $@
	@scripts/cross.sh $@

# A small wheel with its libraries linked in, tried in a bare Debian.
wheel: setup-python
	@JOBS=$(JOBS) scripts/wheel.sh test

fuzz: setup-check
	@scripts/fuzz.sh $(SECONDS_EACH)

install: build/tribo
	@cmake --install build --prefix $(PREFIX)

clean:
	@rm -rf build build-*
