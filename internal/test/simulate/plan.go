// Package simulate runs the AWS deployment for a day of simulated time. It has the real domain,
// store, dispatcher and worker. Between them it has models of the services of AWS, with their
// limits, delays and faults. It must run in a bubble of testing/synctest, since it uses the bubble's
// clock.
package simulate

import (
	"math"
	"time"

	"lipsync/internal/test/simulate/table"
)

// Plan says what to simulate. Seed fixes the random values, but not the order in which goroutines
// run.
type Plan struct {
	Seed    uint64
	Scratch string // an existing folder for the workers' files
	// Stop is called every second of simulated time. Once it returns true, the simulation ends: no
	// more clients come, workers stop, and the report counts the requests that are still open.
	Stop func() bool
	// Log gets the state of the simulation, 48 times in Length.
	Log func(format string, args ...any)

	Jobs     float64       // jobs a day; their rate depends on the hour
	From     time.Duration // since midnight
	Length   time.Duration
	WarmUp   time.Duration // at the beginning; the report's waits leave out the jobs of this time
	Burst    int           // requests of a burst that begins at BurstAt
	BurstAt  time.Duration
	BurstFor time.Duration // how long the burst takes to come
	Accounts int
	BigShare float64       // share of the requests that the first account makes
	Canceled float64       // share of requests
	Sent     time.Duration // that clients take to send uploads, before their requests; 0 if they send none
	Polled   float64       // share of requests whose clients read them by calls; the reads of others are only counted

	Render     time.Duration // mean time to render one request on one machine
	MaxWorkers int

	Table     table.Limits
	Functions Functions
	Messages  Messages
	Fleet     Fleet
	Small     Small
	Neural    Neural
}

// Neural has the properties of requests whose engine needs a network, and of their runners with a GPU.
type Neural struct {
	Share  float64 // of requests; 0 for no such runners
	Fleet  Fleet
	Render []time.Duration // mean time to render one request, if its runner does one, two, … at once
	Load   time.Duration   // of the networks
	Hour   float64         // price of an instance
}

// Small has the properties of the function of small requests. All requests without a network are small.
type Small struct {
	Most             int           // small workers at a time; 0 for no such function
	Render           time.Duration // mean time to render one request
	Process, Load    time.Duration // start of a request's process, and of its engines
	Invoke, Warm     time.Duration // until Lambda has taken a call, and until the call begins
	ColdMin, ColdMax time.Duration // start of an environment
	Idle             time.Duration // until an idle environment ends
}

// Functions has the limits of Lambda.
type Functions struct {
	Concurrency int           // of the account
	Cold, Own   time.Duration // duration of a cold start, and of a call besides its calls of AWS
	Lost        float64       // share of answers that never reach the client
}

// Messages has the faults of SQS.
type Messages struct {
	Lost, Doubled, Late float64       // share of messages
	Batch, Concurrency  int           // messages in a call, and concurrent calls, of the function
	Hidden              time.Duration // until a failed message comes again
}

// Fleet has the properties of Batch and EC2.
type Fleet struct {
	Slots              int           // jobs on one instance
	Instances          int           // most instances
	Ready              int           // instances at the beginning
	Evaluate           time.Duration // between two checks for waiting jobs
	StartMin, StartMax time.Duration // of an instance
	Container          time.Duration // start of a job on a running instance
	Idle               time.Duration // until an instance without jobs ends
	Submits            float64       // calls of SubmitJob a second
	Reclaims           float64       // share of instances an hour
	Notice             time.Duration
	Kills              float64 // killed without notice, per worker and hour
	Call               time.Duration
}

// Day returns the plan of a day with the number of jobs. In addition, a twentieth as many come
// within one minute of the morning.
func Day(jobs float64, seed uint64) Plan {
	peak := int(math.Ceil(jobs * peakFactor / 86400 * 9)) // busy workers, with 9 s a job
	fleet := Fleet{
		Slots: 1, Instances: 3 * max(peak, 16), Evaluate: 5 * time.Second, StartMin: 2 * time.Minute, StartMax: 5 * time.Minute,
		Container: 3 * time.Second, Idle: 2 * time.Minute, Submits: 50, Reclaims: .05, Notice: 2 * time.Minute, Kills: 1. / 200,
		Call: 50 * time.Millisecond,
	}
	neural := Neural{Share: .1, Fleet: fleet, Load: 10 * time.Second, Hour: g6Hour}
	neural.Fleet.Instances = 3 * max(int(float64(peak)*neural.Share), 4)
	for _, rate := range []float64{341, 519, 566, 612} { // frames a second of one to four requests at once, measured with 16 processors, but those of three
		at := len(neural.Render) + 1
		neural.Render = append(neural.Render, time.Duration(750*float64(at)/(rate/4)*float64(time.Second))) // with 4
	}
	return Plan{
		Stop: func() bool { return false }, Log: func(string, ...any) {},
		Seed: seed, Jobs: jobs, Length: 24 * time.Hour,
		Burst: int(jobs / 20), BurstAt: 10 * time.Hour, BurstFor: time.Minute, Accounts: 200, BigShare: .3, Canceled: .01, Polled: .01,
		Render: 6 * time.Second, MaxWorkers: 3 * max(peak, 16),
		Table: table.Limits{
			Call: 8 * time.Millisecond, Transaction: 12 * time.Millisecond, Lag: 30 * time.Millisecond,
			PartitionWrites: 1000, PartitionReads: 3000, TableWrites: 40_000, StartWrites: 4000, Lost: 1e-6,
		},
		Functions: Functions{Concurrency: 1000, Cold: 200 * time.Millisecond, Own: 3 * time.Millisecond, Lost: .001},
		Messages:  Messages{Lost: 1e-4, Doubled: 1e-3, Late: 1e-3, Batch: 10, Concurrency: 2, Hidden: 210 * time.Second},
		Fleet:     fleet, Neural: neural,
		Small: Small{
			Most: 500, Render: 10 * time.Second, Process: 100 * time.Millisecond, Load: 200 * time.Millisecond, Invoke: 20 * time.Millisecond, Warm: 100 * time.Millisecond,
			ColdMin: 1500 * time.Millisecond, ColdMax: 3 * time.Second, Idle: 6 * time.Minute,
		},
	}
}

// Part returns a part of the plan, with a warm-up. It begins with as many instances as are busy at
// that time of the day.
func (p Plan) Part(from, length, warmUp time.Duration) Plan {
	p.From, p.Length, p.WarmUp = from, length, warmUp
	if from > 0 {
		p.Fleet.Ready = min(int(p.rate(from)*p.Render.Seconds()*1.1/float64(p.Fleet.Slots))+1, p.Fleet.Instances)
	}
	return p
}

// peakFactor is the ratio of the busiest hour to the day's mean.
const peakFactor = 3

// rate returns the number of new requests a second at a time of the day. It is highest at 14:00,
// and a tenth of the mean at night.
func (p Plan) rate(at time.Duration) float64 {
	const floor, mean = .03, .3125 // mean of the third power of a raised cosine
	wave := math.Pow((1+math.Cos(2*math.Pi*(at.Hours()-14)/24))/2, 3)
	share := (floor + (1-floor)*wave) / (floor + (1-floor)*mean)
	return p.Jobs / 86400 * share
}
