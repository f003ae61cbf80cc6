package simulate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"lipsync/internal/aws/gateway"
	"lipsync/internal/aws/sqs"
	"lipsync/internal/domain/base"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/store/dynamodb/callers"
	"lipsync/internal/test/simulate/table"
)

// World is one simulation.
type World struct {
	Plan
	dice      *dice
	table     *table.Table
	store     *dynamodb.Store
	objects   *objects
	functions *functions
	messages  *messages
	fleet     *fleet
	neural    *fleet // with GPUs
	small     *smallPool
	ledger    *ledger
	service   *service.Service
	tokens    []string // one API key for each account
	poll      table.Count
	// background ends when the simulation does.
	background context.Context

	sweeps, sweepErrors int
	faults              map[string]int // number of errors of background calls, by text
	mu                  sync.Mutex
}

// drain is the longest time that the simulation waits for all requests to become final, after the
// last client has come.
const drain = 3 * time.Hour

// Run simulates the plan. Call it in a bubble of testing/synctest, at the bubble's midnight.
func Run(ctx context.Context, p Plan) (*Report, error) {
	w, err := newWorld(p)
	if err != nil {
		return nil, err
	}
	if err := w.open(ctx); err != nil {
		return nil, err
	}
	poll, err := measurePoll(ctx)
	if err != nil {
		return nil, err
	}
	w.poll = poll
	time.Sleep(time.Until(midnight().Add(p.From)))
	background, stop := context.WithCancel(ctx)
	w.background = background
	var all sync.WaitGroup
	all.Go(func() { w.fleet.run(background) })
	all.Go(func() { w.neural.run(background) })
	all.Go(func() { w.messages.run(background) })
	all.Go(func() { w.sweep(background) })
	all.Go(func() { w.ledger.run(background) })
	all.Go(func() { w.tell(background) })
	all.Go(func() {
		for sleep(background, time.Second) == nil {
			if w.Stop() {
				stop()
			}
		}
	})
	var clients sync.WaitGroup
	w.arrive(background, &clients)
	clients.Wait()
	for end := time.Now().Add(drain); !w.ledger.settled() && time.Now().Before(end); {
		if sleep(background, time.Second) != nil {
			break
		}
	}
	w.ledger.end, w.ledger.stopped = time.Now(), background.Err() != nil
	stop()
	all.Wait()
	time.Sleep(10 * time.Minute) // until timers and goroutines have ended by themselves
	if err := w.ledger.close(ctx); err != nil {
		return nil, err
	}
	return w.report(), nil
}

func newWorld(p Plan) (_ *World, err error) {
	w := &World{
		Plan: p, dice: newDice(p.Seed, 1), table: table.New(p.Table), faults: make(map[string]int),
		objects:   &objects{put: 300 * time.Millisecond, keys: make(map[string]bool)},
		functions: newFunctions(p.Functions),
	}
	w.store = dynamodb.On(w.table, "t")
	w.ledger = &ledger{World: w, jobs: make(map[string]*job)}
	w.fleet = w.newFleet(p.Fleet, 2, lipsync.DoesPlain)
	w.neural = w.newFleet(p.Neural.Fleet, 8, lipsync.DoesNeural)
	w.messages = &messages{Messages: p.Messages, dice: newDice(p.Seed, 3), arrived: make(chan struct{}, 1)}
	w.small = &smallPool{World: w, dice: newDice(p.Seed, 7)}
	ports := base.Ports{
		Store: w.store.Store, Objects: w.objects, Hints: w.messages, Foretell: w.messages.foretell, Watcher: w.ledger, Pool: w.fleet, Demand: w.store.Queue,
		NewID: newDice(p.Seed, 4).id, Random: newDice(p.Seed, 5),
	}
	neural := 0
	if p.Small.Most > 0 {
		ports.SmallPool = w.small
	}
	if p.Neural.Share > 0 {
		ports.NeuralPool, neural = w.neural, p.Neural.Fleet.Instances
	}
	w.service, err = service.New(base.Config{
		Engines: []string{warp, wav2lip}, GenerateRate: 1_000_000, ReadRate: 1_000_000,
		Pooled: true, Workers: p.MaxWorkers, SmallWorkers: p.Small.Most, NeuralWorkers: neural, Limits: lipsync.Limits{Open: 1_000_000, Stored: 1 << 60},
	}, ports)
	w.messages.handle = sqs.Handler(w.service, func(int) {}, slog.New(slog.DiscardHandler))
	w.messages.call = func(ctx context.Context, do func(context.Context) error) error {
		return w.functions.call(ctx, "dispatch", dispatchTimeout, do)
	}
	return w, err
}

// These are the engines; wav2lip needs a network.
const (
	warp    = "warp"
	wav2lip = "wav2lip"
)

// newFleet returns a fleet of runners with the duty. part is that of its random values.
func (w *World) newFleet(f Fleet, part uint64, d lipsync.Duty) *fleet {
	work := func(ctx context.Context, p *process) { w.work(ctx, p, d) }
	return &fleet{Fleet: f, dice: newDice(w.Seed, part), work: work, instances: make(map[*instance]bool), refilled: time.Now()}
}

// These are the functions' timeouts, as in infra/stack.
const (
	apiTimeout      = gateway.Timeout
	dispatchTimeout = 30 * time.Second
	sweepTimeout    = 55 * time.Second
)

// open creates a key for each account.
func (w *World) open(ctx context.Context) error {
	for n := range w.Accounts {
		token, _, err := w.service.CreateKey(ctx, account(n), "simulated", 0)
		if err != nil {
			return err
		}
		w.tokens = append(w.tokens, token)
	}
	return nil
}

func account(n int) string { return fmt.Sprintf("account-%03d", n) }

// sweep starts a sweep every minute, even if the one before has not ended.
func (w *World) sweep(ctx context.Context) {
	var all sync.WaitGroup
	for sleep(ctx, time.Minute) == nil {
		all.Go(func() {
			err := w.functions.call(context.WithoutCancel(ctx), "sweep", sweepTimeout, w.service.Sweep)
			w.note(err)
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.sweeps++; err != nil {
				w.sweepErrors++
			}
		})
	}
	all.Wait()
}

// tell logs the state 48 times while clients come, and as often afterwards.
func (w *World) tell(ctx context.Context) {
	for sleep(ctx, w.Length/48) == nil {
		made, open := w.ledger.counts()
		machines, workers := w.fleet.counts()
		w.Log("%s: %d requests made, %d of them open; %d machines, %d workers", time.Now().Format(time.TimeOnly), made, open, machines, workers)
	}
}

// note counts an error of a background call.
func (w *World) note(err error) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults[brief(err)]++
}

// brief returns the beginning of an error's text.
func brief(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text[:min(len(text), 80)]
}

// measurePoll returns the units that one read of a request takes.
func measurePoll(ctx context.Context) (table.Count, error) {
	w, err := newWorld(Plan{Accounts: 1, MaxWorkers: 1})
	if err != nil {
		return table.Count{}, err
	}
	if err := w.open(ctx); err != nil {
		return table.Count{}, err
	}
	id, err := w.generate(ctx, 0, "any", warp)
	for range 20 * callers.RateLanes(w.service.ReadRate) {
		if err == nil {
			_, err = w.readOnce(ctx, 0, id) // the first read of a minute in each lane of the rate costs more
		}
	}
	before := w.table.Count()
	if err == nil {
		_, err = w.readOnce(ctx, 0, id)
	}
	after := w.table.Count()
	return table.Count{ReadUnits: after.ReadUnits - before.ReadUnits, WriteUnits: after.WriteUnits - before.WriteUnits}, err
}
