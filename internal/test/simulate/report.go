package simulate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"lipsync/internal/test/simulate/table"
)

// Report is the result of a simulation.
type Report struct {
	Jobs, Completed, Canceled int
	Open                      int // when the simulation was stopped
	Lost, Doubled, Wrong      []string
	Abandoned                 int     // clients that gave up
	Start                     Waits   // of all jobs except those of the burst's hour, and those of networks
	StartNeural               Waits   // of all jobs of networks
	StartBurst, StartAfter    Waits   // of the burst, and of the rest of its hour
	DoneBurst                 Waits   // of the burst, until its requests are done
	Runners, Small            int64   // runners without a GPU, and small workers, that were started
	Utilisation               float64 // rendering time ÷ paid time of machines
	Hours                     []Hour
	Attempts                  int
	Reads, Readers            int64 // of the clients that read by calls: their calls, and the reads computed for them
	Partitions                []table.Partition
	Table                     table.Count
	costs                     []cost
	text                      strings.Builder
}

// Hour is the result of one hour of the day.
type Hour struct {
	Hour, Jobs     int
	Start          Waits
	Paid, Rendered time.Duration
}

// Waits has quantiles of the times from a client's first call to the first claim of its request.
type Waits struct{ Half, Most, All time.Duration } // 50, 99 and 100 of 100

// waits returns the quantiles of the times.
func waits(all []time.Duration) (w Waits) {
	if len(all) == 0 {
		return w
	}
	slices.Sort(all)
	return Waits{all[len(all)/2], all[len(all)*99/100], all[len(all)-1]}
}

func (w Waits) String() string {
	return fmt.Sprintf("%v, %v, %v", w.Half.Round(time.Millisecond*10), w.Most.Round(time.Millisecond*10), w.All.Round(time.Millisecond*10))
}

// pollTime is about the time that the function takes for a read.
const pollTime = 30 * time.Millisecond

// polls counts the reads of all clients by the second, at the intervals that the API asks for.
type polls struct {
	all       int64
	readers   int64 // those of the clients that read by calls
	inFact    int64 // calls that these clients made
	most      int   // most in a second
	mostOfBig int   // most in a second, of the first account
	mostCalls int   // most in a second, including generate calls
}

// countPolls computes when clients read their requests.
func (l *ledger) countPolls() (p polls) {
	bySecond, calls, ofBig := make(map[int64]int), make(map[int64]int), make(map[int64]int)
	for _, j := range l.jobs {
		if !j.accepted {
			continue // no client reads it
		}
		calls[j.created.Unix()]++
		at, status := j.created, j.created
		p.inFact += int64(j.reads)
		for at = at.Add(time.Second); ; {
			p.all++
			if j.reads > 0 {
				p.readers++
			}
			bySecond[at.Unix()]++
			calls[at.Unix()]++
			if j.account == account(0) {
				ofBig[at.Unix()]++
			}
			if !at.Before(j.done) {
				break
			}
			if !at.Before(j.started) {
				status = j.started
			}
			at = at.Add(pollAfter(at.Sub(status)))
		}
	}
	for s, n := range calls {
		p.most, p.mostCalls, p.mostOfBig = max(p.most, bySecond[s]), max(p.mostCalls, n), max(p.mostOfBig, ofBig[s])
	}
	return p
}

func (w *World) report() *Report {
	l := w.ledger
	r := &Report{
		Jobs: len(l.jobs), Open: l.left, Lost: l.lost, Doubled: l.doubled, Wrong: l.errors, Abandoned: l.abandoned, Attempts: l.attempts,
		Table: w.table.Count(), Partitions: w.table.Partitions(),
	}
	w.measureWaits(r)
	p := l.countPolls()
	r.Reads, r.Readers, r.costs = p.inFact, p.readers, w.costs(p)
	r.write(w, p)
	return r
}

// measureWaits groups the jobs by the time at which their clients came.
func (w *World) measureWaits(r *Report) {
	var rest, burst, after, done, neural []time.Duration
	var byHour [24][]time.Duration
	for _, j := range w.ledger.jobs {
		switch {
		case j.done.IsZero(): // open, or lost
		case j.failed:
			r.Canceled++
		default:
			r.Completed++
		}
		if j.claims == 0 || j.created.Before(midnight().Add(w.From+w.WarmUp)) {
			continue // canceled before any claim
		}
		wait := j.started.Sub(j.created)
		if j.neural {
			neural = append(neural, wait)
			continue
		}
		hour := hourOf(j.created)
		byHour[hour] = append(byHour[hour], wait)
		switch at := j.created.Sub(midnight()) - w.BurstAt; {
		case w.Burst == 0 || at < 0 || at >= time.Hour:
			rest = append(rest, wait)
		case at < w.BurstFor:
			burst = append(burst, wait)
			if !j.done.IsZero() {
				done = append(done, j.done.Sub(j.created))
			}
		default:
			after = append(after, wait)
		}
	}
	r.Start, r.StartBurst, r.StartAfter, r.DoneBurst = waits(rest), waits(burst), waits(after), waits(done)
	r.StartNeural = waits(neural)
	r.Runners, r.Small = w.fleet.started, w.small.started
	r.Utilisation = w.ledger.useful.Seconds() / max(1, w.fleet.paid.Seconds()*float64(w.Fleet.Slots))
	for hour, all := range byHour {
		if len(all) > 0 {
			r.Hours = append(r.Hours, Hour{hour, len(all), waits(all), w.fleet.paidBy[hour] * time.Duration(w.Fleet.Slots), w.ledger.busyBy[hour]})
		}
	}
}

// Utilisation returns the utilisation in the hour, 0 without instances.
func (h Hour) Utilisation() float64 { return h.Rendered.Seconds() / max(1, h.Paid.Seconds()) }

// costs returns the costs of the services.
func (w *World) costs(p polls) []cost {
	var calls, api int64
	var took time.Duration
	for name, t := range w.functions.all {
		calls, took = calls+t.calls, took+t.took
		if name != "dispatch" && name != "sweep" {
			api += t.calls
		}
	}
	counted := p.all - p.readers // reads that were only counted
	api, calls, took = api+counted, calls+counted, took+time.Duration(counted)*pollTime
	count := w.table.Count()
	reads := count.ReadUnits + float64(counted)*w.poll.ReadUnits
	writes := count.WriteUnits + float64(counted)*w.poll.WriteUnits
	m := w.messages
	queue := m.sent + m.received + m.deleted
	o := w.objects
	hours, neural := w.fleet.paid.Hours(), w.neural.paid.Hours()
	return []cost{
		{"Lambda, small requests", fmt.Sprintf("%.0f GB-s", w.small.paid.Seconds()*callGB), float64(w.small.started)*functionCall + w.small.paid.Seconds()*callGB*functionGBs},
		{"EC2 (Spot)", fmt.Sprintf("%.0f instance hours", hours), hours * (instanceHour + extrasHour)},
		{"EC2 with a GPU (Spot)", fmt.Sprintf("%.0f instance hours", neural), neural * (w.Neural.Hour + extrasHour)},
		{"DynamoDB", fmt.Sprintf("%.1f M write units, %.1f M read units", writes/1e6, reads/1e6), writes*writeUnit + reads*readUnit},
		{"API Gateway", fmt.Sprintf("%.2f M calls", float64(api)/1e6), float64(api) * gatewayCall},
		{"Lambda", fmt.Sprintf("%.2f M calls, %.0f GB-s", float64(calls)/1e6, took.Seconds()*functionGB), float64(calls)*functionCall + took.Seconds()*functionGB*functionGBs},
		{"SQS", fmt.Sprintf("%.2f M calls", float64(queue)/1e6), float64(queue) * queueCall},
		{"S3, calls", fmt.Sprintf("%.2f M writes", float64(o.puts)/1e6), float64(o.puts)*objectPut + float64(o.puts)*2*objectGet},
	}
}

// sorted returns a line for each key of the map with its count, the largest count first.
func sorted(all map[string]int) []string {
	keys := slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Or(all[b]-all[a], strings.Compare(a, b)) })
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%d × %s", all[k], k)
	}
	return keys
}
