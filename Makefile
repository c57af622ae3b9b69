# The front door. `make help` lists the verbs.

SWIFT       ?= swift
PREFIX      ?= /usr/local
DESTDIR     ?=
ROOT         = $(DESTDIR)$(PREFIX)
# Searched by the user manager for /usr/local and for ~/.local alike (systemd.unit(5)).
UNITS        = $(ROOT)/share/systemd/user
SUDO        := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

LIBRARIES   := libssh2-1-dev libssl-dev libbotan-2-dev libsystemd-dev libmicrohttpd-dev libcurl4-openssl-dev \
               libsqlite3-dev libpcre2-dev libtomlplusplus-dev
# What the demo and the integration tests run: servers, stand-in agents and their screens.
TOOLS       := openssh-server openssh-client tmux python3-minimal procps util-linux
# What the fault matrix runs besides: other SSH servers, and login shells.
TOOLS       += dropbear-bin tinysshd busybox fish tcsh
# Shells that the probe has to run in.
TOOLS       += ksh93u+m mksh zsh
# What the tests of sleep, presence and network run: a bus with a login manager on it, and network namespaces.
TOOLS       += dbus python3-dbusmock iproute2

BUILD_FLAGS := --explicit-target-dependency-import-check error
SOURCES     := Package.swift Sources Tests Benchmarks
TSAN        := --sanitize=thread -Xswiftc -DHOSTS_TSAN --scratch-path .build/tsan
ASAN        := --sanitize=address --scratch-path .build/asan
# These take their time: each has a verb of its own.
SKIPPED     := --skip HostsIntegrationTests --skip HostsFaultTests
# How long `make fuzz` looks for something.
SECONDS     ?= 60
# Minutes of work each under ThreadSanitizer, and nothing in them is shared: screens are read by pure values.
ALONE       := --skip ScreenMutationTests --skip WrittenScreenTests --skip ScreenClassifierTests
FAULTS      := $(CURDIR)/.build/faults.tsv
SCREENS     := $(CURDIR)/.build/screens.tsv
# Leaks are looked for; the file names those of the toolchain's own test runner.
LSAN        := LSAN_OPTIONS=suppressions=$(CURDIR)/Tests/lsan.supp:print_suppressions=0

.DEFAULT_GOAL := help

##@ Verbs

.PHONY: deps
deps: ## install the Debian packages that are missing
	@missing=$$(dpkg-query -W -f='$${db:Status-Status} $${Package}\n' $(LIBRARIES) $(TOOLS) 2>/dev/null \
	    | sed -n 's/^installed //p' | sort > .deps.have; \
	    printf '%s\n' $(LIBRARIES) $(TOOLS) | sort | comm -23 - .deps.have; rm -f .deps.have); \
	if [ -n "$$missing" ]; then \
	    echo "installing:" $$missing; \
	    $(SUDO) apt-get update -qq && \
	    $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $$missing; \
	fi

.PHONY: build
build: deps ## build everything; a warning is an error
	$(SWIFT) build $(BUILD_FLAGS)

.PHONY: demo
demo: build ## the main job on a fleet of two private hosts, for 45 s
	@$$($(SWIFT) build --show-bin-path)/hostsd-demo

.PHONY: test
test: deps lint build test-unit test-integration faults tsan asan ## everything that CI runs

.PHONY: check
check: lint build test-unit ## before each commit

.PHONY: test-unit
test-unit: ## unit tests, tests of links and tests of the server
	$(SWIFT) test $(BUILD_FLAGS) $(SKIPPED)

.PHONY: test-integration
test-integration: ## the real hostsd and hostsctl against real servers
	$(SWIFT) test $(BUILD_FLAGS) --filter HostsIntegrationTests

.PHONY: faults
faults: ## links against real servers that fail: the fault matrix of docs/faults.md, in a table
	@rm -f $(FAULTS); \
	HOSTS_FAULTS_TABLE=$(FAULTS) $(SWIFT) test $(BUILD_FLAGS) --filter HostsFaultTests; code=$$?; \
	awk -f Tests/HostsFaultTests/table.awk $(FAULTS) && exit $$code

.PHONY: screens
screens: ## how captured screens of all agents are read, as they are and spoilt in many ways, in two tables
	@rm -f $(SCREENS); \
	HOSTS_SCREENS_TABLE=$(SCREENS) $(SWIFT) test $(BUILD_FLAGS) --filter ScreenTableTests >$(SCREENS).log 2>&1 \
	    || { cat $(SCREENS).log; exit 1; }; \
	awk -f Tests/HostsDetectionTests/table.awk $(SCREENS)

.PHONY: tsan
tsan: ## the tests under ThreadSanitizer
	$(SWIFT) test $(TSAN) $(SKIPPED) $(ALONE)

.PHONY: asan
asan: ## the tests under AddressSanitizer
	$(LSAN) $(SWIFT) test $(ASAN) $(SKIPPED)

.PHONY: fuzz
fuzz: deps ## replies and screens that libFuzzer makes up, for SECONDS=60 after what was found before
	HOSTS_FUZZ=1 $(SWIFT) build -c release --product fuzz-detection --scratch-path .build/fuzz \
	    -Xswiftc -sanitize=fuzzer -Xswiftc -parse-as-library
	@mkdir -p .build/fuzz/found .build/fuzz/screens
	@for screen in Tests/HostsDetectionTests/Fixtures/screens/*.txt; do \
	    { printf s; cat $$screen; } > .build/fuzz/screens/$$(basename $$screen); done
	.build/fuzz/release/fuzz-detection -max_total_time=$(SECONDS) -timeout=5 -rss_limit_mb=1024 -max_len=65536 \
	    -artifact_prefix=.build/fuzz/ .build/fuzz/found Tests/Fuzz/corpus .build/fuzz/screens

.PHONY: bench
bench: deps ## what a link costs, beside `ssh -S` in the same run; what a look costs here and on the host
	$(SWIFT) build -c release --product bench-links
	$(SWIFT) build -c release --product bench-detection
	.build/release/bench-links
	.build/release/bench-detection

.PHONY: lint
lint: ## check the layout and the documentation
	$(SWIFT) format lint --strict --parallel --recursive $(SOURCES)

.PHONY: format
format: ## lay the sources out
	$(SWIFT) format --in-place --parallel --recursive $(SOURCES)

.PHONY: install
install: deps ## build for release and install below DESTDIR and PREFIX
	$(SWIFT) build -c release --static-swift-stdlib --product hostsd
	$(SWIFT) build -c release --static-swift-stdlib --product hostsctl
	install -D -s -m 755 .build/release/hostsd $(ROOT)/bin/hostsd
	install -D -s -m 755 .build/release/hostsctl $(ROOT)/bin/hostsctl
	install -d $(ROOT)/share/hostsd/agents.d $(ROOT)/share/hostsd/examples/hooks.d \
	    $(ROOT)/share/hostsd/examples/hosts.d $(ROOT)/share/man/man1 $(UNITS)
	install -m 644 Config/agents.d/*.toml $(ROOT)/share/hostsd/agents.d
	install -m 755 Config/hooks.d/* $(ROOT)/share/hostsd/examples/hooks.d
	install -m 644 Config/hosts.d.example/* $(ROOT)/share/hostsd/examples/hosts.d
	install -m 644 Config/hostsd.toml $(ROOT)/share/hostsd/examples
	install -m 644 docs/hostsctl.1 $(ROOT)/share/man/man1
	for unit in hostsd.service hostsd-refresh.service hostsd-refresh.timer; do \
	    sed 's|/usr/local|$(PREFIX)|g' systemd/$$unit > $(UNITS)/$$unit; \
	done

.PHONY: install-wake
install-wake: ## the units that wake a sleeping machine, off until you enable them (docs/lifecycle.md)
	install -D -m 755 systemd/system/hostsd-wake $(ROOT)/libexec/hostsd/hostsd-wake
	install -d $(DESTDIR)/etc/systemd/system
	for unit in hostsd-wake@.service hostsd-wake@.timer; do \
	    sed 's|/usr/local|$(PREFIX)|g' systemd/system/$$unit > $(DESTDIR)/etc/systemd/system/$$unit; \
	done

.PHONY: uninstall
uninstall: ## remove what `install` laid down
	rm -f $(ROOT)/bin/hostsd $(ROOT)/bin/hostsctl $(ROOT)/share/man/man1/hostsctl.1 $(UNITS)/hostsd.service \
	    $(UNITS)/hostsd-refresh.service $(UNITS)/hostsd-refresh.timer
	rm -f $(ROOT)/libexec/hostsd/hostsd-wake $(DESTDIR)/etc/systemd/system/hostsd-wake@.service \
	    $(DESTDIR)/etc/systemd/system/hostsd-wake@.timer
	rm -rf $(ROOT)/share/hostsd $(ROOT)/libexec/hostsd

.PHONY: clean
clean: ## remove build products
	$(SWIFT) package clean
	rm -rf .build/tsan .build/asan

.PHONY: help
help: ## list the verbs
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 20
