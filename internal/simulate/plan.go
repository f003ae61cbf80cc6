// Package simulate runs the service of the AWS home for a day of simulated time: the real
// domain, store, dispatcher and worker, and models of what AWS does between them, with its limits,
// delays and faults. It is to run in a bubble of testing/synctest, whose clock it uses.
package simulate

import (
	"math"
	"time"

	"lipsync/internal/simulate/table"
)

// Plan is what is simulated. Draws come from Seed; the order in which goroutines run does not.
type Plan struct {
	Seed    uint64
	Scratch string // an existing folder, for the workers' files
	// Stop is asked each second of simulated time whether the rest is to be left out, and no more
	// clients to come; nil never says so.
	Stop func() bool

	Jobs     float64       // a day: their rate follows the hours
	From     time.Duration // since midnight
	Length   time.Duration
	WarmUp   time.Duration // what is left out of the report's times and utilisation at first
	Burst    int           // requests in the minute that begins at BurstAt
	BurstAt  time.Duration
	Accounts int     // one of which makes BigShare of the requests
	BigShare float64 // of the first account
	Canceled float64 // share of requests
	Polled   float64 // share of requests whose clients read them in fact; the reads of others are only counted

	Render     time.Duration // of one request on one machine, about
	MaxWorkers int

	Table     table.Limits
	Functions Functions
	Messages  Messages
	Fleet     Fleet
}

// Functions are the limits of Lambda.
type Functions struct {
	Concurrency int           // of the account
	Cold, Own   time.Duration // a cold start; what a call takes besides calls of AWS
	Lost        float64       // share of answers that never reach the client
}

// Messages are the faults of SQS.
type Messages struct {
	Lost, Doubled, Late float64       // shares
	Batch, Concurrency  int           // messages of a call, and calls at a time, of the function that takes them
	Window              time.Duration // for which messages are gathered for a call
	Hidden              time.Duration // after which one that failed comes again
}

// Fleet is what Batch and EC2 do.
type Fleet struct {
	Slots              int           // jobs that fit on an instance
	Instances          int           // at most
	Ready              int           // of these, at the beginning
	Evaluate           time.Duration // between two looks at what waits
	StartMin, StartMax time.Duration // of an instance
	Container          time.Duration // start of a job where an instance is there
	Idle               time.Duration // after which an instance without jobs ends
	Submits            float64       // calls of SubmitJob a second
	Reclaims           float64       // share of instances an hour
	Notice             time.Duration
	Kills              float64 // workers killed without notice, a worker and hour
	Call               time.Duration
}

// Day returns a day of so many jobs. A burst of a twentieth of them comes besides, in a minute of the morning.
func Day(jobs float64, seed uint64) Plan {
	peak := int(math.Ceil(jobs * peakFactor / 86400 * 30)) // workers that are busy, of 30 s a job
	return Plan{
		Seed: seed, Jobs: jobs, Length: 24 * time.Hour,
		Burst: int(jobs / 20), BurstAt: 10 * time.Hour, Accounts: 200, BigShare: .3, Canceled: .01, Polled: .01,
		Render: 30 * time.Second, MaxWorkers: 3 * max(peak, 16),
		Table: table.Limits{
			Call: 8 * time.Millisecond, Transaction: 12 * time.Millisecond, Lag: 30 * time.Millisecond,
			PartitionWrites: 1000, PartitionReads: 3000, TableWrites: 40_000, StartWrites: 4000, Lost: 1e-6,
		},
		Functions: Functions{Concurrency: 1000, Cold: 200 * time.Millisecond, Own: 3 * time.Millisecond, Lost: .001},
		Messages:  Messages{Lost: 1e-4, Doubled: 1e-3, Late: 1e-3, Batch: 10_000, Concurrency: 2, Window: 2 * time.Second, Hidden: 210 * time.Second},
		Fleet: Fleet{
			Slots: 1, Instances: 3 * max(peak, 16), Evaluate: 5 * time.Second, StartMin: 2 * time.Minute, StartMax: 5 * time.Minute,
			Container: 3 * time.Second, Idle: 2 * time.Minute, Submits: 50, Reclaims: .05, Notice: 2 * time.Minute, Kills: 1. / 200,
			Call: 50 * time.Millisecond,
		},
	}
}

// Part returns a part of the plan. It begins with as many instances as are busy then, and leaves some
// time out of what it reports.
func (p Plan) Part(from, length, warmUp time.Duration) Plan {
	p.From, p.Length, p.WarmUp = from, length, warmUp
	if from > 0 {
		p.Fleet.Ready = min(int(p.rate(from)*p.Render.Seconds()*1.1/float64(p.Fleet.Slots))+1, p.Fleet.Instances)
	}
	return p
}

// peakFactor is how many times the mean of the day the busiest hour has.
const peakFactor = 3

// rate returns how many requests come in a second at a time of the day. The curve has its
// peak at 14:00 and falls to a tenth of the mean at night.
func (p Plan) rate(at time.Duration) float64 {
	const floor, mean = .03, .3125 // mean of the third power of a raised cosine
	wave := math.Pow((1+math.Cos(2*math.Pi*(at.Hours()-14)/24))/2, 3)
	share := (floor + (1-floor)*wave) / (floor + (1-floor)*mean)
	return p.Jobs / 86400 * share
}
