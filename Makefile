# All commands of this repository. Run make without a target for a list.

SHELL       := /bin/sh
VENV        := .cache/venv
VARIANT     ?= onnxruntime
ONNXRUNTIME := .cache/$(VARIANT)/libonnxruntime.so
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.6.0
NFPM        := github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.4
NODE        := .cache/node
OPENAPI     := .cache/openapi
CDK         := ../$(NODE)/node_modules/.bin/cdk
PIP         := pip install --quiet --disable-pip-version-check --no-compile --require-hashes
TOOLS       := .cache/tools
FFMPEG      := .cache/ffmpeg
FUZZTIME    ?= 2m
EXECUTIONS  ?= 10000000
SIEGE       ?= 10m
RUNS        ?= 10
PACKAGES    ?= ./...
ARGS        ?=
CAPABILITY  ?= 90
AXE         := $(NODE)/node_modules/axe-core/axe.min.js
NEURAL      := .cache/neural
QUALITY     := .cache/quality
SET         ?= full
NETWORKS     = $(or $(LIPSYNC_SHARED),../shared)/models
EXPORT      := internal/render/wav2lip/export
MUSETALK    := internal/render/musetalk/export

# Programs and tests are built with the same flags, so that each package is compiled only once. The
# tags keep the look-up of hosts and users in Go.
export GOFLAGS += -trimpath -tags=netgo,osusergo

.DEFAULT_GOAL := help
.PHONY: help build bin/lipsync bin/runner onnxruntime sizes demo picture figures test test-long test-all test-tools run synth deploy cdk aws-local sam aws-smoke aws-smoke-clean lint release image release-check pins bench bench-neural bench-musetalk gpu-check gpu-bundle gpu-libraries bench-aws soak batch deliveries flake race fuzz hostile outage siege simulate estimates quality engine-pictures walks clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: bin/lipsync bin/runner ## build all programs: bin/lipsync, bin/runner, and the functions of Lambda in dist
	GOARCH=arm64 .ci/functions dist/functions
	.ci/functions dist/host/functions

# ONNX Runtime is called through cgo. Go gets modules over TLS, and a small Debian has no
# certificates of authorities.
bin/lipsync bin/runner:
	@.ci/install gcc libc6-dev ca-certificates
	CGO_ENABLED=1 go build -o $@ ./cmd/$(@F)

onnxruntime: $(ONNXRUNTIME) ## install ONNX Runtime, for engines and detectors that are networks; VARIANT=onnxruntime-gpu for NVIDIA GPUs
	@mkdir -p bin
	cd bin && ln -sf ../$(dir $(ONNXRUNTIME))libonnxruntime*.so .

$(ONNXRUNTIME): .ci/onnxruntime
	.ci/onnxruntime $(VARIANT) "$$(uname -m)" $(@D)
	@touch $@

sizes: build ## list the sizes of the functions of Lambda in bytes: as built, and compressed as for deployment
	@for function in dist/functions/*; do \
		echo "$$(wc -c < $$function/bootstrap) $$(gzip -9c $$function/bootstrap | wc -c) $${function##*/}"; \
	done

demo: ## install what is missing, build, and lip sync a sample video through the HTTP API
	@.ci/install ffmpeg espeak-ng
	@$(MAKE) --no-print-directory bin/lipsync
	bin/lipsync demo --output dist/demo $(ARGS)

picture: demo ## draw the picture of the README from the sample
	ffmpeg -v error -nostdin -y -i dist/demo/before-after.png -vf scale=1080:-1:flags=lanczos -q:v 4 docs/pictures/before-after.jpg

figures: ## count the lines, files, functions, comments, dependencies and names of the code; TREE= another checkout, to compare
	@go test -count 1 -v -run '^TestFigures$$' ./internal/test/conventions $(if $(TREE),-args -tree $(abspath $(TREE))) | grep '|'

# What tests need. The quick ffmpeg is first in PATH; the tests of what users run look for the machine's own.
# One package more than cores runs at a time, since some packages mostly wait. go test need not run a
# part of go vet again, nor link what only debuggers need. Node, which synthesises templates, collects garbage less often, and CDK
# doesn't validate them: it would only warn, and take longer than all the rest.
TESTENV = NODE_OPTIONS="--max-semi-space-size=128 $$NODE_OPTIONS" CDK_VALIDATION=false \
	TMPDIR=$$(.ci/scratch) LIPSYNC_REQUIRE_ONNXRUNTIME=1 LIPSYNC_REQUIRE_CHROMIUM=1 LIPSYNC_AXE=$(CURDIR)/$(AXE) \
	LIPSYNC_QUICK_FFMPEG=$(CURDIR)/$(FFMPEG) PATH=$(CURDIR)/$(FFMPEG):$$PATH
GOTEST  = $(TESTENV) go run ./cmd/slowest -vet=off -ldflags=-w -p $$(($$(nproc) + 1)) -timeout 60m

# A test is in one of two tiers, by its name: test-long runs those whose names end with _long, test all others. One run of both is faster,
# since each program is linked, and each stack made, once. The tests of the template come first: they would run alone at the end.
FIRST = ./template-tests
test: test-tools ## install what is missing, run every test that a change is likely to break, and list the slowest
	.ci/vet ./...
	$(GOTEST) -skip '_long$$' $(FIRST) ./...

test-long: test-tools ## run the other tests, which take long: samples of faults, hostile media and soak, generated clients
	$(GOTEST) -run '_long$$' $$(grep -rl --include='*_test.go' '^func Test.*_long(' . | xargs -n 1 dirname | sort -u)

test-all: test-tools ## run both in one
	.ci/vet ./...
	$(GOTEST) $(FIRST) ./...

test-tools: $(VENV)/done $(ONNXRUNTIME) $(NODE)/done $(FFMPEG)/done
	@.ci/install ffmpeg espeak-ng gcc libc6-dev chromium-headless-shell zsh fish
	@command -v node >/dev/null || .ci/install nodejs

$(FFMPEG)/done: .ci/ffmpeg
	.ci/ffmpeg "$$(uname -m)" $(@D)
	@touch $@

run: bin/lipsync ## build and serve, e.g. make run ARGS='--addr :8080'
	bin/lipsync serve $(ARGS)

synth: build $(NODE)/done ## write the template for AWS to dist/cdk, without deploying it
	cd infra && $(CDK) synth --quiet $(ARGS)

deploy: build $(NODE)/done ## deploy on AWS, see infra/README.md, e.g. make deploy ARGS='-c lipsync:zones=2'
	cd infra && go run ./deploy $(CDK) $(ARGS)

cdk: build $(NODE)/done ## run any other command of the CDK, e.g. make cdk ARGS=diff
	cd infra && $(CDK) $(ARGS)

aws-local: $(VENV)/done ## deploy the service on an emulator of AWS, until Ctrl-C; GENERATE_RATE= and READ_RATE= are calls a minute, ENDPOINT= is the URL of a running emulator, NO_SIGN_IN=1 leaves out Cognito
	@.ci/install ffmpeg
	@command -v node >/dev/null || .ci/install nodejs
	@go build -o bin/local ./infra/local
	@exec bin/local $(if $(GENERATE_RATE),--generate-rate $(GENERATE_RATE)) $(if $(READ_RATE),--read-rate $(READ_RATE)) \
		$(if $(ENDPOINT),--endpoint $(ENDPOINT)) $(if $(BATCH_HOST),--host $(BATCH_HOST)) \
		$(if $(NO_SIGN_IN),--no-sign-in) $(if $(SAM),--sam $(abspath $(SAM)))

sam: ## do make aws-local, and write dist/sam, with which the SAM CLI calls single functions
	@$(MAKE) --no-print-directory aws-local SAM=dist/sam

aws-smoke: build $(NODE)/done $(if $(GPU),$(NEURAL)/random.onnx) ## deploy a separate stack on AWS, run the tests that need AWS, and remove the stack: takes two hours and a few dollars; GPU=1 also tests a GPU; without credentials it prints its plan
	@.ci/install ffmpeg espeak-ng chromium-headless-shell
	@go build -o bin/guard ./infra/smoke/guard && exec bin/guard $(if $(GPU),-gpu $(CURDIR)/$(NEURAL)/random.onnx) $(CDK)

aws-smoke-clean: ## remove the stacks that runs of make aws-smoke left on AWS
	@go build -o bin/guard ./infra/smoke/guard && exec bin/guard -clean

lint: $(OPENAPI)/done ## check formatting, go vet, staticcheck, go.mod, known vulnerabilities and openapi.yaml
	.ci/lint $(TOOLS) $(STATICCHECK) $(GOVULNCHECK) $(OPENAPI)/node_modules/.bin

release: ## at the tag of a version: make archives and Debian packages for amd64 and arm64, with digests and lists of components, in dist/release; ARGS=--trial for a trial of any tree
	.ci/release $(ARGS) dist/release .cache/release $(NFPM)

image: release ## make an OCI image for one machine from the archives of a release, in dist/release, without a daemon; ARGS=--trial as above
	.ci/image dist/release .cache/release

release-check: ## make a release for this machine twice, in two folders, and check that both are the same and can be installed; ARGS=--whole does so for all machines, and compiles everything twice
	.ci/release-check $(ARGS) .cache/release $(NFPM)

pins: $(VENV)/done ## update the pinned packages of Python and npm with their digests, from requirements*.in, .ci/node/package.json and .ci/openapi/package.json
	.ci/pins $(VENV)/bin/uv
	for folder in .ci/node .ci/openapi; do (cd $$folder && npm install --silent --package-lock-only --omit-lockfile-registry-resolved) || exit 1; done

bench: ## measure speed, also relative to a plain transcode, memory, and the latency of the API (takes some minutes)
	@.ci/install ffmpeg espeak-ng
	go test -timeout 60m -run '^$$' -bench . -benchtime 1x ./cmd/lipsync

bench-neural: $(ONNXRUNTIME) $(NEURAL)/random.onnx ## measure a full-size Wav2Lip network with random weights: by itself, by stages, in whole jobs, and its memory over 2 h and 200 jobs; REFERENCE= is a copy of the published code to measure too
	@.ci/install ffmpeg gcc libc6-dev
	LIPSYNC_WAV2LIP=$(CURDIR)/$(NEURAL)/random.onnx go test -timeout 60m -run '^$$' -bench 'Network|Stages|Job' ./internal/render/wav2lip
	go test -timeout 60m -run '^$$' -bench . -benchtime 1x ./internal/render/engines
	$(if $(REFERENCE),@$(MAKE) --no-print-directory $(NEURAL)/random.pth)
	$(if $(REFERENCE),$(NEURAL)/venv/bin/python $(EXPORT)/reference.py $(REFERENCE) $(NEURAL)/random.pth \
		$(or $(LIPSYNC_SHARED),../shared)/media/talking_man.mp4 $(or $(LIPSYNC_SHARED),../shared)/media/speech.wav)

bench-musetalk: $(ONNXRUNTIME) $(NEURAL)/musetalk/musetalk.onnx ## measure full-size MuseTalk networks with random weights, a frame after the other (without a GPU it takes minutes, and 6 GB)
	@.ci/install ffmpeg gcc libc6-dev
	LIPSYNC_MUSETALK=$(CURDIR)/$(NEURAL)/musetalk go test -timeout 60m -run '^$$' -bench Full -benchtime 4x ./internal/render/musetalk

# Without a GPU it installs nothing, and prints what it would check.
gpu-check: ## on a machine with an NVIDIA GPU: check that networks and encoders give the same results as on the CPU, and measure their speed; figures in dist/gpu-check.md
	@if command -v nvidia-smi >/dev/null; then $(MAKE) --no-print-directory VARIANT=onnxruntime-gpu gpu-libraries; fi
	@go build -o bin/gpu-check ./cmd/gpu-check
	LD_LIBRARY_PATH=$(CURDIR)/.cache/cuda$${LD_LIBRARY_PATH:+:$$LD_LIBRARY_PATH} bin/gpu-check --onnxruntime .cache/onnxruntime-gpu/libonnxruntime.so $(ARGS) \
		wav2lip=$(NEURAL)/random.onnx face-detector=$(NETWORKS)/ultraface_rfb_320.onnx \
		face-landmarks=$(NETWORKS)/facemesh_192.onnx active-speaker=$(NETWORKS)/light_asd.onnx \
		$(foreach role,musetalk-hearing musetalk-encoder musetalk musetalk-decoder,$(role)=$(NEURAL)/musetalk/$(role).onnx)

# BUNDLE lists the roles of the networks in it. Those of MuseTalk have 2 GB before their weights are replaced.
BUNDLE ?= wav2lip musetalk-hearing musetalk-encoder musetalk musetalk-decoder

gpu-bundle: bin/lipsync test-tools $(BUNDLE:%=$(NEURAL)/computed/%.onnx) ## make dist/gpu-bundle: a folder of at most 60 MiB whose file run does make gpu-check on a machine without a network; CAPABILITY= is the GPU's, such as 90 for an H100
	@$(MAKE) --no-print-directory VARIANT=onnxruntime-gpu .cache/onnxruntime-gpu/libonnxruntime.so
	.ci/gpu-bundle $(CAPABILITY) dist/gpu-bundle active-speaker=$(NETWORKS)/light_asd.onnx \
		$(foreach role,$(BUNDLE),$(role)=$(NEURAL)/computed/$(role).onnx)

$(NEURAL)/computed/wav2lip.onnx: $(NEURAL)/random.onnx .ci/gpu-weights
	@mkdir -p $(@D)
	$(NEURAL)/venv/bin/python .ci/gpu-weights $< $@

$(NEURAL)/computed/%.onnx: $(NEURAL)/musetalk/%.onnx .ci/gpu-weights
	@mkdir -p $(@D)
	$(NEURAL)/venv/bin/python .ci/gpu-weights $< $@

gpu-libraries: $(ONNXRUNTIME) $(NEURAL)/random.onnx $(NEURAL)/musetalk/musetalk.onnx
	@.ci/install ffmpeg espeak-ng gcc libc6-dev
	@if [ ! -e .cache/cuda ] && ldd $(dir $(ONNXRUNTIME))libonnxruntime_providers_cuda.so | grep -q 'not found'; then .ci/cuda .cache/cuda; fi

# Both files have the same weights. Only the published code needs torch, which is large.
$(NEURAL)/random.onnx: $(EXPORT)/export.py $(EXPORT)/requirements.txt
	@python3 -c 'import ensurepip' 2>/dev/null || .ci/install python3-venv
	python3 -m venv $(NEURAL)/venv
	$(NEURAL)/venv/bin/$(PIP) -r $(EXPORT)/requirements.txt
	$(NEURAL)/venv/bin/python $(EXPORT)/export.py --random 1 $@

# All four networks, of 1.8 GB.
$(NEURAL)/musetalk/musetalk.onnx: $(addprefix $(MUSETALK)/,export.py networks.py graph.py checkpoint.py) | $(NEURAL)/random.onnx
	$(NEURAL)/venv/bin/python $(MUSETALK)/export.py --random 1 $(@D)

$(NEURAL)/musetalk/musetalk-%.onnx: $(NEURAL)/musetalk/musetalk.onnx ;

$(NEURAL)/random.pth: $(NEURAL)/random.onnx $(EXPORT)/requirements-reference.txt
	$(NEURAL)/venv/bin/$(PIP) -r $(EXPORT)/requirements-reference.txt
	$(NEURAL)/venv/bin/python $(EXPORT)/export.py --random 1 --checkpoint $@ $(NEURAL)/random.onnx

bench-aws: $(VENV)/done ## on the emulator: measure cold and warm calls of each function, and a load of 200 clients, also on lipsync serve
	@.ci/install ffmpeg espeak-ng
	@command -v node >/dev/null || .ci/install nodejs
	go test -timeout 30m -run '^$$' -bench . -benchtime 1x ./infra/local

soak: $(VENV)/done ## load the service with small jobs while it is killed, its disk fails, and messages come late or again; ends with counts that must be 0; SEED= repeats a run (takes an hour)
	@.ci/install ffmpeg espeak-ng
	go test -timeout 5h -count 1 -v -run '^TestSoak' ./cmd/lipsync -args -jobs 1000 -faults 100 $(if $(SEED),-seed $(SEED))
	go test -timeout 5h -count 1 -v -run '^TestSoak_long$$' ./infra/local -args -jobs 300 -kills 40 $(if $(SEED),-seed $(SEED))

batch: ## make a batch of 200 lines while the server is killed, and one on an emulator of AWS (takes some minutes each)
	@.ci/install ffmpeg espeak-ng
	go test -timeout 1h -count 1 -v -run '^TestBatchKilled_long$$' ./cmd/lipsync -args -lines 200
	go test -timeout 1h -count 1 -v -run '^TestBatch_long$$' ./infra/local -args -lines 200

deliveries: ## send 10,000 events to a webhook while the server is killed 30 times; none may be lost (takes some minutes)
	@.ci/install ffmpeg espeak-ng
	go test -timeout 5h -count 1 -v -run '^TestDeliveries_long$$' ./cmd/lipsync -args -deliveries 10000 -kills 30

flake: test-tools ## run the tests of each package RUNS (10) times while each core is busy; ends with the number of failures; PACKAGES= selects packages (takes hours)
	$(TESTENV) .ci/flake $(RUNS) dist/flake $(PACKAGES)

race: test-tools ## install what is missing and run the tests under the race detector
	$(TESTENV) go test -race -timeout 60m ./...

# The packages of .ci/node and .ci/openapi, with checked digests.
.cache/%/done: .ci/%/package.json .ci/%/package-lock.json
	@command -v npm >/dev/null || .ci/install npm
	mkdir -p $(@D)
	cp .ci/$*/package.json .ci/$*/package-lock.json $(@D)
	cd $(@D) && npm ci --silent --ignore-scripts
	@touch $@

fuzz: ## run each fuzz target for FUZZTIME (2m) guided by coverage, then EXECUTIONS (10000000) times without; ends with the number of executions; PACKAGES= selects packages (takes hours)
	@.ci/fuzz $(FUZZTIME) $(EXECUTIONS) $(PACKAGES)

siege: ## for SIEGE (10m), do all harm that one key can beside an honest account, on one worker and a small disk; prints what each got
	@.ci/install ffmpeg espeak-ng
	go test -timeout 2h -count 1 -v -run '^TestSiege$$' ./cmd/lipsync -args -siege $(SIEGE)

hostile: $(ONNXRUNTIME) ## render 350 hostile media and try 100 hostile networks; prints the results, and the most time and memory that any took (takes 10 minutes)
	@.ci/install ffmpeg gcc libc6-dev
	LIPSYNC_REQUIRE_ONNXRUNTIME=1 go test -timeout 60m -count 1 -v -run '^(TestMedia|TestModels)_long$$' ./internal/test/hostile -args -media 350 -models 100

outage: $(VENV)/done ## cut the network of a runner for 30 s in the middle of each step of an attempt (takes 3 minutes)
	go test -timeout 20m -count 1 -parallel 14 -run '^TestCutSteps_long$$' -v ./internal/work/worker -args -outage 30s -silent

estimates: ## compare the estimates of 30 jobs with what they take, and print a table (takes 5 minutes)
	go test -timeout 1h -count 1 -run '^TestEstimates$$' -v ./cmd/lipsync -args -estimates 30

walks: test-tools ## dub two people by the mouse, by curl and by the command line, and write the steps and seconds of each to docs/measurements/walks.txt (takes a minute)
	$(TESTENV) go test -timeout 20m -count 1 -run '^TestWalks_long$$' -v ./cmd/lipsync -args -keep-walks

# It runs on one processor, since nearly all of it waits for one table. Its memory grows with the number of jobs.
simulate: ## simulate the AWS deployment on a simulated clock: days of 100,000 and 1,000,000 jobs, and a part of the peak of 10,000,000; SEED= changes the random values; SMALL= the largest number of small workers; JOBS= simulates only one day (100,000 take 10 minutes, 1,000,000 some hours and 10 GB); Ctrl-C ends a day with its report so far
	@mkdir -p dist
	go test -c -o dist/simulate.test ./internal/test/simulate
	@for day in $(if $(JOBS),$(JOBS),100000 1000000 "10000000 -from 13h57m -length 3m"); do \
		GOMAXPROCS=1 GOGC=400 GOMEMLIMIT=12GiB TMPDIR=$$(ls -d /dev/shm 2>/dev/null || echo /tmp) \
			dist/simulate.test -test.v -test.timeout 10h -test.run '^TestDay$$' -seed $(or $(SEED),1) $(if $(SMALL),-small $(SMALL)) -jobs $$day || exit 1; \
	done

quality: bin/lipsync $(QUALITY)/done ## measure how well lips follow speech, compare with the last table, and draw contact sheets; SET=quick for a part; figures and sheets in dist/quality
	@.ci/install ffmpeg espeak-ng flite
	@go build -o bin/quality ./cmd/quality
	LIPSYNC_SHARED=$(or $(LIPSYNC_SHARED),../shared) bin/quality --set $(SET) $(ARGS)

engine-pictures: ## draw the pictures of the steps in docs/engine.md, in docs/pictures
	go test -count 1 -run '^TestPictures$$' ./internal/render/warp -args -pictures $(CURDIR)/docs/pictures

$(QUALITY)/done: cmd/quality/requirements.txt .ci/recordings
	@.ci/install ffmpeg
	@python3 -c 'import ensurepip' 2>/dev/null || .ci/install python3-venv
	rm -rf $(QUALITY)
	python3 -m venv $(QUALITY)/venv
	$(QUALITY)/venv/bin/$(PIP) -r cmd/quality/requirements.txt
	.ci/recordings $(QUALITY)/venv/bin/pip $(QUALITY)/recordings
	@touch $@

clean: ## remove all build results and caches
	rm -rf bin dist .cache

# Python packages of the tests: see .ci/requirements.in.
$(VENV)/done: .ci/requirements.txt
	@python3 -c 'import ensurepip' 2>/dev/null || .ci/install python3-venv
	rm -rf $(VENV)
	python3 -m venv $(VENV)
	$(VENV)/bin/$(PIP) -r .ci/requirements.txt
	@touch $@
