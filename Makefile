# `make help` lists the targets. The Makefile needs GNU make and a Swift toolchain (6.2 or newer). Some targets install
# packages and need Debian.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# The directories of `make install`; DESTDIR goes before each of them.
prefix ?= /usr/local
bindir ?= $(prefix)/bin
libdir ?= $(prefix)/lib
libexecdir ?= $(prefix)/libexec
datadir ?= $(prefix)/share
docdir ?= $(datadir)/doc/clientsecretd
mandir ?= $(datadir)/man
bashcompletiondir ?= $(datadir)/bash-completion/completions
fishcompletiondir ?= $(datadir)/fish/vendor_completions.d
# Debian's zsh looks in another place for the completions of packages.
zshcompletiondir ?= $(datadir)/zsh/$(if $(filter /usr,$(prefix)),vendor-completions,site-functions)
sysconfdir ?= /etc

binary := .build/release/clientsecretd
network_binary := $(dir $(binary))clientsecretd-network

# What building, the demonstration and `make test` need beyond the toolchain; then what the other tests need.
build_packages := libcurl4-openssl-dev libssl-dev libsystemd-dev libyaml-dev openssl pkg-config python3
test_packages := acl attr bash-completion binutils curl dash dbus e2fsprogs fish gcc git gnupg gpgv libc6-dev libfaketime man-db \
    mandoc iproute2 lintian mmdebstrap podman polkitd procps python3-venv runc strace systemd tmux util-linux zsh

# Requirements of packing, and the other requirements of a release.
package_packages := debhelper dpkg-dev
release_packages := binutils dpkg-dev git gnupg mmdebstrap podman python3

# A build that hangs is ended: a cold one takes about four minutes on two cores.
build_limit := 25m
test_limit := 60m

# With everything, downloads run during the first build, once all Debian packages are there. The release build comes after
# all tests. During it, tests that wait for other programs fail now and then.
with_everything := $(filter test-all nightly,$(MAKECMDGOALS))
ifdef with_everything
MAKEFLAGS += --jobs=3
deps: | test-packages
# A mistake in the form stops make before anything is built.
built-tests: | $(filter lint,$(MAKECMDGOALS))
build simulator: | test
endif

# SwiftPM passes other flags to the compiler when its output is a terminal, and then compiles everything again.
swift_build := timeout $(build_limit) swift build --no-color-diagnostics

# Full RELRO, separate code pages, no rpath, the C stack protector, reproducible paths. Hidden symbols save 1.5 MB; packed
# relocations would save as much, but glibc reads them only since 2.36. (_FORTIFY_SOURCE is in Package.swift, only for CLinux.)
# The last two leave out the path of the compiler's module cache and the digests that depend on it. So two folders give the
# same bytes.
release := --configuration release --static-swift-stdlib \
    -Xswiftc -use-ld=lld -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now -Xlinker -z -Xlinker separate-code \
    -Xlinker --no-export-dynamic --disable-local-rpath -Xcc -fstack-protector-strong \
    -Xcc -ffile-prefix-map=$(CURDIR)=. -Xswiftc -file-prefix-map -Xswiftc $(CURDIR)=. \
    -Xswiftc -Xfrontend -Xswiftc -no-clang-module-breadcrumbs \
    -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen

# How many simulated secret-years and fleet-years `make simulate` lives through.
YEARS ?= 2000
FLEET_YEARS ?= 500

.PHONY: help
help: ## names the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12

.PHONY: deps
deps: ## installs the Debian packages that building needs, if any is missing
	@scripts/install-packages $(build_packages)

.PHONY: build
build: deps ## builds the release binaries, clientsecretd and clientsecretd-network in .build/release
	for product in clientsecretd clientsecretd-network; do $(swift_build) $(release) --product $$product; done
	@$(MAKE) --no-print-directory $(generated)/ready

# Manual pages are generated from the pages in docs/, and completions from the program's own definitions of its
# arguments.
generated := .build/generated
$(generated)/ready: $(binary) scripts/man-pages debian/changelog $(wildcard docs/*.md)
	mkdir -p $(generated)/completions
	scripts/man-pages $(binary) $(generated)/man
	for shell in bash fish zsh; do \
	    timeout 1m $(binary) --generate-completion-script $$shell >$(generated)/completions/$$shell.$$$$; \
	    mv $(generated)/completions/$$shell.$$$$ $(generated)/completions/$$shell; \
	done
	touch $@

# The debug build of the daemon takes half as long as the release build.
.PHONY: run
run: deps ## builds, then shows a demonstration daemon renewing three short-lived secrets (two to three minutes)
	$(swift_build) --product clientsecretd
	@scripts/demo .build/debug/clientsecretd demo

.PHONY: demo-signin
demo-signin: build .build/venv/ready ## builds, then walks a whole sign-in against a stand-in for Apple on loopback
	@scripts/install-packages curl openssl
	@scripts/demo-signin $(binary) .build/venv/bin/python demo/signin

.PHONY: demo-fleet
demo-fleet: build .build/etcd/usr/bin/etcdctl ## builds, then has a secret spread over machines through etcd, all on loopback
	@scripts/install-packages openssl python3
	@scripts/demo-fleet $(binary) .build/etcd/usr/bin demo/fleet

.PHONY: test
test: built-tests ## builds, and runs every test that needs no root and no server (ten minutes at most)
	@timeout $(test_limit) scripts/run-tests everybody

.PHONY: built-tests
built-tests: $(if $(with_everything),test-packages)
	@echo "make test: builds everything (about 5 minutes on two cores, once), then runs the tests (about 3)."
	@echo "It installs only these Debian packages, if they are missing: $(build_packages)"
	@scripts/install-packages $(build_packages)
	$(swift_build) --build-tests

# How much of the simulation runs with the tests. Always the same lives, so that whether a commit passes depends only on it.
simulate := .build/release/simulate
.PHONY: test-all
test-all: test deb tarball test-deps simulator site ## runs what "make test" left out, and the simulator (25 minutes; as root)
	@(nice -n 10 scripts/simulate $(simulate) 60 15 1 >.build/simulate.log 2>&1 && echo 0 || echo 1) >.build/simulate.status & \
	status=0; \
	CLIENTSECRETD_BINARY=$(CURDIR)/$(binary) timeout $(test_limit) scripts/run-tests all || status=$$?; \
	wait; cat .build/simulate.log; \
	[ "$$(cat .build/simulate.status)" = 0 ] && exit $$status

.PHONY: nightly
nightly: test-all .build/venv/nightly .build/ubuntu-root/usr/bin/python3 ## runs the slow tests, for hours; before a release
	@scripts/install-packages chromium-headless-shell
	@scripts/nightly $(CURDIR)/$(binary)

.PHONY: simulator
simulator: deps
	$(swift_build) $(release) --product simulate

# Years and fleet-years of a new random seed; with SEED or FLEET_SEED only the life of that seed.
.PHONY: simulate
simulate: simulator ## simulates years of faults (YEARS=20000; SEED=N or FLEET_SEED=N replays one run)
	$(if $(SEED),timeout $(test_limit) $(simulate) --seed $(SEED))
	$(if $(FLEET_SEED),timeout $(test_limit) $(simulate) --fleet-seed $(FLEET_SEED))
	$(if $(SEED)$(FLEET_SEED),,scripts/simulate $(simulate) $(YEARS) $(FLEET_YEARS))

# Ratios of one run on one machine, medians of five; docs/benchmarks.md has what came of them. As root: file systems are mounted.
.PHONY: bench
bench: build .build/venv/ready .build/etcd/usr/bin/etcdctl .build/peers-root/etc/os-release ## measures speed and memory against other programs (55 minutes)
	@scripts/install-packages e2fsprogs gcc libc6-dev libssl-dev openssl python3
	Benchmarks/publish.sh
	SHARED_ACTION=/bin/true Benchmarks/publish.sh
	Benchmarks/restart.sh
	Benchmarks/renew.sh
	Benchmarks/memory.sh
	Benchmarks/idle.sh
	Benchmarks/mint.sh
	Benchmarks/peers.py .build/peers-root
	Benchmarks/peers.py .build/peers-root 1000
	Benchmarks/fleet.py

# Nothing is installed on this machine: caddy and certmonger run in this folder.
.build/peers-root/etc/os-release:
	@scripts/install-packages mmdebstrap
	rm -rf .build/peers-root .build/peers-root.new
	timeout 10m mmdebstrap --quiet --variant=minbase --include=caddy,certmonger bookworm .build/peers-root.new
	mv .build/peers-root.new .build/peers-root

# Code that runs in the tests' own process, optimised: otherwise a run takes hours. The other suites start the release binary,
# which no sanitizer looks into. Left out are races with files that others change, which last too long, and searches of the
# process's memory, of which both sanitizers map terabytes. The thread sanitizer makes vfork a fork, which shares no memory
# with its parent. Then it is unknown why a child did not start, and which children are waited for. The address sanitizer gives
# a new thread its creator's signal mask, whatever its attributes say. XCTest's runner itself leaks, so leaks are not counted.
SANITIZER ?= thread address
SUITES ?= AppleClientSecret|Failures|Formats|Model|Rotation|Linux|Systemd|Config|Keys|Outputs|State|UserWriter|StatusAPI|Actions|AppleAPI|Store|Push|Daemon|clientsecretd|Fuzzing
not_sanitized := PathAttackTests|PublisherRaceTests|aKeyIsOnlyInThePrivateKeyHeap|aCopyWouldBeFound
not_thread_sanitized := saysWhyItCouldNotBeStarted|saysWhenThePathIsTooLong|orphansAreReapedAndWaitedChildrenAreNot
not_address_sanitized := signalsAreBlockedOnItsThreads
.PHONY: sanitize
sanitize: build .build/venv/ready ## runs the suites of Sources/ under both sanitizers (SANITIZER=thread, SUITES=Keys)
	for sanitizer in $(SANITIZER); do \
	    case $$sanitizer in \
	        thread) skipped='$(not_sanitized)|$(not_thread_sanitized)' ;; \
	        *) skipped='$(not_sanitized)|$(not_address_sanitized)' ;; \
	    esac; \
	    options="--configuration release -Xswiftc -enable-testing --sanitize=$$sanitizer --scratch-path .build/$$sanitizer"; \
	    timeout $(test_limit) swift build --build-tests $$options; \
	    ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS=suppressions=$(CURDIR)/Tests/Support/thread-sanitizer.suppressions \
	        CLIENTSECRETD_BINARY=$(CURDIR)/$(binary) timeout $(test_limit) swift test --skip-build $$options \
	        --filter '^($(SUITES))Tests\.' --skip "$$skipped"; \
	done

# The same suites and the simulation; which folders of Sources/ are looked into.
COVERED ?= Rotation Outputs Keys
.PHONY: coverage
coverage: build .build/venv/ready ## lists the lines that no in-process test reaches (COVERED=State; by default Rotation, Outputs, Keys)
	timeout $(test_limit) swift build --build-tests --enable-code-coverage --scratch-path .build/coverage
	rm -rf .build/coverage/debug/codecov
	timeout $(test_limit) swift test --skip-build --enable-code-coverage --scratch-path .build/coverage \
	    --filter '^($(SUITES)|Simulation)Tests\.'
	scripts/coverage .build/coverage/debug/codecov/clientsecretd.json $(addprefix Sources/,$(COVERED))

# The library's documentation as an archive, which any web server shows.
.PHONY: docc
docc: ## builds the library's documentation in .build/documentation
	$(swift_build) --target AppleClientSecret
	rm -rf .build/documentation
	mkdir -p .build/documentation/symbols
	swift symbolgraph-extract -module-name AppleClientSecret -I .build/debug/Modules \
	    -target $$(uname -m)-unknown-linux-gnu -output-dir .build/documentation/symbols
	docc convert Sources/AppleClientSecret/AppleClientSecret.docc --warnings-as-errors \
	    --additional-symbol-graph-dir .build/documentation/symbols \
	    --output-dir .build/documentation/AppleClientSecret.doccarchive

.PHONY: site
site: .build/site-venv/ready ## renders the documentation as .build/site, a folder that any web server serves
	.build/site-venv/bin/python scripts/build-site .build/site

.build/site-venv/ready: docs/site/requirements.txt
	@scripts/install-packages python3-venv
	python3 -m venv .build/site-venv
	timeout 10m .build/site-venv/bin/python -m pip install --quiet --require-hashes --requirement docs/site/requirements.txt
	touch $@

# How many seconds `make fuzz` spends on each target; with TARGET, on only that one.
FUZZ_SECONDS ?= 60

# In a separate folder, because all fuzzed code is built again, so that the fuzzer sees which way an input takes.
.PHONY: fuzz
fuzz: deps ## fuzzes the parsers (FUZZ_SECONDS=600; TARGET=key for one; KEEP=1 for the corpus)
	CLIENTSECRETD_FUZZ=1 $(swift_build) --configuration release --sanitize fuzzer \
	    -Xswiftc -enable-testing -Xswiftc -parse-as-library --product fuzz --scratch-path .build-fuzz
	scripts/fuzz .build-fuzz/release/fuzz $(FUZZ_SECONDS) $(TARGET)

# The docker client, by which the tests have environment files read. If it is missing, it is taken out of its package,
# because the package would start an unwanted engine.
docker_client := $(if $(shell command -v docker),,.build/docker/usr/bin/docker)

# Prometheus with its promtool and Nagios likewise: their packages would start servers.
prometheus := $(if $(shell command -v promtool),,.build/prometheus/usr/bin/promtool)
nagios := .build/nagios/usr/sbin/nagios4

# Apache and its module, with the libraries that nothing else brings.
apache := .build/apache/usr/sbin/apache2

# etcd, of which the tests start three members.
etcd := .build/etcd/usr/bin/etcdctl

# Packages are installed on a Debian 12 without a toolchain. It has their dependencies, a tool for keys, and the language of
# the stand-in for Apple. Only root can create one, and boot it.
debian_root := $(if $(filter 0,$(shell id -u)),.build/debian-root/usr/lib/python3/dist-packages/apt/__init__.py .build/image-root.tar)

.PHONY: test-packages
test-packages:
	@scripts/install-packages $(build_packages) $(test_packages) $(package_packages)

.PHONY: test-deps
test-deps: test-packages .build/venv/ready $(docker_client) $(prometheus) $(nagios) $(apache) $(etcd) $(debian_root)

# The Python readers that the tests compare with, apart from the system's own.
.build/venv/ready: Tests/Support/requirements.txt
	@scripts/install-packages python3-venv
	python3 -m venv .build/venv
	timeout 20m .build/venv/bin/python -m pip install --quiet --require-hashes --requirement Tests/Support/requirements.txt
	touch $@

# The programs whose users read a secret, and the services that one is pushed to: nearly a gigabyte.
.build/venv/nightly: .build/venv/ready Tests/Support/requirements-nightly.txt
	timeout 30m .build/venv/bin/python -m pip install --quiet --require-hashes --requirement Tests/Support/requirements-nightly.txt
	touch $@

.build/docker/usr/bin/docker:
	mkdir -p .build/docker
	cd .build/docker && timeout 10m ../../scripts/download-package docker.io && touch usr/bin/docker

.build/prometheus/usr/bin/promtool:
	mkdir -p .build/prometheus
	cd .build/prometheus && timeout 10m ../../scripts/download-package prometheus && touch usr/bin/promtool

# Nagios, the objects that Debian configures it with, and the plugins' own tools. Always the unpacked ones, which need no
# configuration of the machine.
.build/nagios/usr/sbin/nagios4:
	mkdir -p .build/nagios
	cd .build/nagios && for package in nagios4-common monitoring-plugins-common nagios4-core; do \
	    timeout 10m ../../scripts/download-package $$package; done && touch usr/sbin/nagios4

.build/apache/usr/sbin/apache2:
	mkdir -p .build/apache
	cd .build/apache && for package in libapache2-mod-auth-openidc libcjose0 libhiredis0.14 libjansson4 libapr1 libaprutil1 \
	    apache2-bin; do timeout 10m ../../scripts/download-package $$package; done && touch usr/sbin/apache2

.build/etcd/usr/bin/etcdctl:
	mkdir -p .build/etcd
	cd .build/etcd && for package in etcd-server etcd-client; do \
	    timeout 10m ../../scripts/download-package $$package; done && touch usr/bin/etcdctl

.build/debian-root/usr/lib/python3/dist-packages/apt/__init__.py:
	@scripts/install-packages mmdebstrap
	rm -rf .build/debian-root .build/debian-root.new
	timeout 10m mmdebstrap --quiet --variant=minbase \
	    --include=systemd,dbus,polkitd,libcurl4,libssl3,libyaml-0-2,ca-certificates,openssl,procps \
	    --include=python3-apt,python3-cryptography,python3-jwt \
	    bookworm .build/debian-root.new
	mv .build/debian-root.new .build/debian-root

# Ubuntu 22.04, whose libraries are older than Debian 12's. No package of Debian has the key of its archive.
.build/ubuntu-root/usr/bin/python3:
	@scripts/install-packages mmdebstrap
	rm -rf .build/ubuntu-root .build/ubuntu-root.new
	timeout 20m mmdebstrap --quiet --variant=minbase --keyring=$(CURDIR)/Tests/Support/ubuntu-archive-2018.asc \
	    --include=systemd,dbus,libcurl4,libssl3,libyaml-0-2,ca-certificates,openssl,procps,python3 jammy .build/ubuntu-root.new
	mv .build/ubuntu-root.new .build/ubuntu-root

.PHONY: lint
lint: ## checks the form of the Swift sources, and all bash and Python
	@timeout 10m scripts/lint

.PHONY: built
built:
	@test -x $(binary) -a -x $(network_binary) || { echo "make install: nothing is built yet; run 'make build' first" >&2; exit 1; }

.PHONY: deb
deb: build ## packs the release binaries as Debian packages in .build/deb
	@scripts/install-packages $(package_packages)
	scripts/build-packages $(binary) $(generated) .build/deb

.PHONY: tarball
tarball: build ## packs the same files as .build/tarball/clientsecretd-VERSION-MACHINE.tar.gz, for machines without dpkg
	@scripts/install-packages binutils
	rm -rf .build/tarball
	scripts/build-tarball $(binary) $(generated) .build/tarball

# The base of the image, as small as Debian's own images. It keeps only the documentation that licences require.
.build/image-root.tar:
	@scripts/install-packages mmdebstrap
	SOURCE_DATE_EPOCH=$$(date --date="$$(sed -n '/^ -- /{s/.*  //p;q}' debian/changelog)" +%s) timeout 10m mmdebstrap --quiet \
	    --format=tar --variant=apt --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
	    --dpkgopt='path-include=/usr/share/doc/*/NOTICE*' --dpkgopt='path-exclude=/usr/share/locale/*' \
	    --dpkgopt='path-exclude=/usr/share/man/*' bookworm $@.new
	mv $@.new $@

# All checks run before anything is built. The image gets Debian's security updates since the last release.
KEY ?=
distribution := .build/distribution
.PHONY: release
release: ## builds everything that a release publishes, signed, in .build/distribution/VERSION (KEY=id or file; as root)
	@scripts/install-packages $(release_packages)
	@scripts/release-ready
	@scripts/with-signing-key "$(KEY)" true
	rm -f .build/image-root.tar
	$(MAKE) deb tarball .build/image-root.tar
	scripts/with-signing-key "$(KEY)" scripts/build-release $(distribution)/$$(dpkg-parsechangelog --show-field Version)

units := $(notdir $(wildcard systemd/*.service systemd/*.socket systemd/*.target systemd/*.timer))
unitdir := $(libdir)/systemd/system

# Rewrites files for Debian's places to the places chosen here.
relocate = sed -e 's|/usr/bin/clientsecretd|$(bindir)/clientsecretd|g' -e 's|/usr/share/doc/clientsecretd|$(docdir)|g' \
    -e 's|/usr/libexec/clientsecretd|$(libexecdir)/clientsecretd|g'

# Without a DESTDIR the machine takes it up at once, as a package's own scripts would see to.
.PHONY: install
install: built $(generated)/ready ## installs the built binary, units, manual pages, completions, documentation (DESTDIR, prefix)
	install -D -m 0755 $(binary) $(DESTDIR)$(bindir)/clientsecretd
	install -D -m 0755 $(network_binary) $(DESTDIR)$(libexecdir)/clientsecretd/clientsecretd-network
	install -d -m 0755 $(DESTDIR)$(sysconfdir)/clientsecretd $(DESTDIR)$(unitdir)
	for unit in $(units); do \
	    $(relocate) "systemd/$$unit" | install -m 0644 /dev/stdin "$(DESTDIR)$(unitdir)/$$unit"; \
	done
	install -D -m 0644 systemd/clientsecretd.sysusers $(DESTDIR)$(libdir)/sysusers.d/clientsecretd.conf
	install -D -m 0644 systemd/clientsecretd.tmpfiles $(DESTDIR)$(libdir)/tmpfiles.d/clientsecretd.conf
	install -D -m 0644 systemd/clientsecretd.catalog $(DESTDIR)$(libdir)/systemd/catalog/clientsecretd.catalog
	@# The licences of the code that is linked in require these texts with the binaries.
	install -D -m 0644 -t $(DESTDIR)$(docdir) CHANGELOG.md LICENSE debian/copyright debian/NOTICE.swift-nio docs/openapi.yaml \
	    docs/picture.svg
	for page in README.md $(wildcard docs/*.md); do \
	    $(relocate) -e 's|](docs/|](|g; s|](\(\.\./\)\?etc/|](examples/|g; s|](\.\./\([A-Z]\)|](\1|g' \
	        -e 's#\[\([^]]*\)\](\([A-Z]*\.md\|Sources/[^)]*\))#\1#g' $$page | \
	        install -m 0644 /dev/stdin $(DESTDIR)$(docdir)/$${page#docs/}; \
	done
	install -d -m 0755 $(DESTDIR)$(mandir)/man5 $(DESTDIR)$(mandir)/man8
	for page in $(generated)/man/*.[58]; do \
	    $(relocate) $$page | install -m 0644 /dev/stdin $(DESTDIR)$(mandir)/man$${page##*.}/$${page##*/}; \
	done
	install -D -m 0644 $(generated)/completions/bash $(DESTDIR)$(bashcompletiondir)/clientsecretd
	install -D -m 0644 $(generated)/completions/fish $(DESTDIR)$(fishcompletiondir)/clientsecretd.fish
	install -D -m 0644 $(generated)/completions/zsh $(DESTDIR)$(zshcompletiondir)/_clientsecretd
	install -D -m 0644 -t $(DESTDIR)$(docdir)/examples etc/clientsecretd.yaml systemd/clientsecretd.rules
	install -D -m 0644 -t $(DESTDIR)$(docdir)/examples/prometheus $(wildcard etc/prometheus/*.yaml)
	install -D -m 0644 -t $(DESTDIR)$(docdir)/examples/container etc/container/Containerfile
	install -D -m 0644 -t $(DESTDIR)$(docdir)/examples/kubernetes $(wildcard etc/kubernetes/*.yaml)
	install -D -m 0644 -t $(DESTDIR)$(docdir)/examples/ci $(wildcard etc/ci/*.yml)
	install -D -m 0644 -t $(DESTDIR)$(docdir)/examples/grafana etc/grafana/clientsecretd.json
	for file in $(wildcard etc/ansible/roles/clientsecretd/*/*.yml); do \
	    install -D -m 0644 $$file $(DESTDIR)$(docdir)/examples/$${file#etc/}; \
	done
	install -d -m 0755 $(DESTDIR)$(docdir)/examples/nagios
	$(relocate) etc/nagios/clientsecretd.cfg | \
	    install -m 0644 /dev/stdin $(DESTDIR)$(docdir)/examples/nagios/clientsecretd.cfg
	@[ -n "$(DESTDIR)" ] || scripts/after-install $(libdir)

.PHONY: uninstall
uninstall: ## stops and removes what `make install` installed; configuration, keys and secrets stay
	@[ -n "$(DESTDIR)" ] || scripts/before-uninstall $(unitdir) $(units)
	rm -f $(DESTDIR)$(bindir)/clientsecretd
	rm -rf $(DESTDIR)$(libexecdir)/clientsecretd
	rm -f $(addprefix $(DESTDIR)$(unitdir)/,$(units))
	rm -f $(DESTDIR)$(libdir)/sysusers.d/clientsecretd.conf
	rm -f $(DESTDIR)$(libdir)/tmpfiles.d/clientsecretd.conf
	rm -f $(DESTDIR)$(libdir)/systemd/catalog/clientsecretd.catalog
	rm -rf $(DESTDIR)$(docdir)
	rm -f $(DESTDIR)$(mandir)/man5/clientsecretd.yaml.5 $(DESTDIR)$(mandir)/man8/clientsecretd{,-*}.8
	rm -f $(DESTDIR)$(bashcompletiondir)/clientsecretd $(DESTDIR)$(fishcompletiondir)/clientsecretd.fish
	rm -f $(DESTDIR)$(zshcompletiondir)/_clientsecretd
	rmdir --ignore-fail-on-non-empty $(DESTDIR)$(sysconfdir)/clientsecretd
	@[ -n "$(DESTDIR)" ] || scripts/after-install $(libdir)

.PHONY: clean
clean: ## removes everything that was built, and the demonstration
	rm -rf .build .build-fuzz demo
