package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Markdown returns the report in Markdown.
func (r *Report) Markdown() string { return r.text.String() }

func (r *Report) line(format string, args ...any) { fmt.Fprintf(&r.text, format+"\n", args...) }

func (r *Report) write(w *World, p polls) {
	r.line("| What | |\n|---|---|")
	r.line("| jobs: made, completed, canceled, open at the end | %d, %d, %d, %d |", r.Jobs, r.Completed, r.Canceled, r.Open)
	r.line("| lost, doubled, other errors, clients who gave up | %d, %d, %d, %d |", len(r.Lost), len(r.Doubled), len(r.Wrong), r.Abandoned)
	r.line("| time to start: half, 99 of 100, all | %v |", r.Start)
	if r.StartBurst.All > 0 {
		r.line("| … of the burst | %v |", r.StartBurst)
		r.line("| … of the hour after it | %v |", r.StartAfter)
	}
	if r.DoneBurst.All > 0 {
		r.line("| … of the burst until its requests are done | %v |", r.DoneBurst)
	}
	if r.StartNeural.All > 0 {
		r.line("| time to start of requests of networks | %v |", r.StartNeural)
		r.line("| instances with a GPU: launched, at most; workers started | %d, %d; %d |", w.neural.launched, w.neural.most, w.neural.started)
	}
	r.line("| small workers: started, in vain, cold, at most, throttled, lost | %d, %d, %d, %d, %d, %d |", w.small.started, w.small.vain, w.small.cold, w.small.most, w.small.throttled, w.small.lost)
	r.line("| utilisation | %.3f |", r.Utilisation)
	r.line("| attempts for each job | %.4f |", float64(r.Attempts)/float64(max(1, r.Jobs)))
	r.line("| instances: launched, at most, reclaimed; workers started, killed | %d, %d, %d; %d, %d |", w.fleet.launched, w.fleet.most, w.fleet.reclaimed, w.fleet.started, w.fleet.killed)
	r.line("| calls of Batch: ListJobs, SubmitJob, throttled | %d, %d, %d |", w.fleet.calls[0], w.fleet.calls[1], w.fleet.throttled)
	r.line("| SQS: sent, at most waiting, failed | %d, %d, %d |", w.messages.sent, w.messages.most, w.messages.failed)
	r.line("| reads of clients: all, most in a second | %d, %d |", p.all, p.most)
	r.line("| table: throttled, conflicts | %d, %d |", r.Table.Throttled, r.Table.Conflicts)
	r.line("| sweeps, of which failed | %d, %d |", w.sweeps, w.sweepErrors)
	r.line("\n| Limit | Most | Has | |\n|---|---|---|---|")
	for _, l := range w.limits(r, p) {
		r.line("%v", l)
	}
	r.line("\n| Hour | Jobs | Start: half, 99 of 100, all | Machines, mean | Utilisation |\n|---|---|---|---|---|")
	for _, h := range r.Hours {
		r.line("| %d | %d | %v | %.1f | %.3f |", h.Hour, h.Jobs, h.Start, h.Paid.Hours(), h.Utilisation())
	}
	r.line("\n| Partition | Items written in the busiest second | Write units | Read units | Throttled |\n|---|---|---|---|---|")
	for _, b := range r.Partitions[:min(12, len(r.Partitions))] {
		r.line("| `%s` | %d | %.0f | %.0f | %d |", b.Kind, b.Items, b.Writes, b.Reads, b.Throttled)
	}
	r.line("\n| Function | Calls | Throttled | Failed | Cold | Mean | Longest |\n|---|---|---|---|---|---|---|")
	for _, name := range slices.Sorted(maps.Keys(w.functions.all)) {
		t := w.functions.all[name]
		r.line("| %s | %d | %d | %d | %d | %v | %v |", name, t.calls, t.throttled, t.failed, t.cold, (t.took / time.Duration(max(1, t.calls))).Round(time.Millisecond), t.longest.Round(time.Millisecond))
	}
	r.line("\n| Call of DynamoDB | Number |\n|---|---|")
	for _, name := range slices.Sorted(maps.Keys(r.Table.Calls)) {
		r.line("| %s | %d |", name, r.Table.Calls[name])
	}
	r.line("\n| Service | What | $ | $ per 1000 jobs |\n|---|---|---|---|")
	sum := 0.0
	for _, c := range r.costs {
		sum += c.dollars
		r.line("| %s | %s | %.2f | %.4f |", c.service, c.what, c.dollars, c.dollars/float64(max(1, r.Jobs))*1000)
	}
	r.line("| all | | %.2f | %.4f |", sum, sum/float64(max(1, r.Jobs))*1000)
	for _, list := range []struct {
		what string
		all  []string
	}{{"Lost", r.Lost}, {"Doubled", r.Doubled}, {"Wrong", r.Wrong}, {"Answers other than success", sorted(w.ledger.refusals)}, {"Errors in the background", sorted(w.faults)}} {
		if len(list.all) > 0 {
			r.line("\n%s: %s", list.what, strings.Join(list.all[:min(5, len(list.all))], "; "))
		}
	}
}
