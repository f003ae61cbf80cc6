package simulate

import (
	"cmp"
	"fmt"
	"slices"

	"lipsync/internal/store/dynamodb/callers"
	"lipsync/internal/test/simulate/table"
)

// gatewayRate is the number of calls a second that API Gateway accepts for an account of AWS,
// unless AWS raises the limit.
const gatewayRate = 10_000

// limit is one of AWS's limits, with the most that the simulation used of it.
type limit struct {
	name      string
	most, has float64
}

func (l limit) share() float64 { return l.most / l.has }

func (l limit) String() string {
	return fmt.Sprintf("| %s | %.0f | %.0f | %.0f %% |", l.name, l.most, l.has, 100*l.share())
}

// limits returns the limits in the order in which a growing load would exceed them. They include
// the reads that were counted but not simulated, so the use of a limit can be above 100 %.
func (w *World) limits(r *Report, p polls) []limit {
	busiest := slices.MaxFunc(r.Partitions, func(a, b table.Partition) int { return cmp.Compare(a.Writes, b.Writes) })
	read := slices.MaxFunc(r.Partitions, func(a, b table.Partition) int { return cmp.Compare(a.Reads, b.Reads) })
	reads := float64(p.most)
	all := []limit{
		{"write units a second of the busiest partition, `" + busiest.Kind + "`", busiest.Writes, w.Plan.Table.PartitionWrites},
		{"read units a second of the busiest partition, `" + read.Kind + "`", read.Reads, w.Plan.Table.PartitionReads},
		{"reads a second by one key in each lane of its rate, a write each, `rate…`", float64(p.mostOfBig) / float64(callers.RateLanes(w.service.ReadRate)), w.Plan.Table.PartitionWrites},
		{"write units a second of the table", r.Table.TableWrites + reads*w.poll.WriteUnits, w.Plan.Table.TableWrites},
		{"write units a second of the index", r.Table.IndexWrites, w.Plan.Table.TableWrites},
		{"calls a second of API Gateway", float64(p.mostCalls), gatewayRate},
		{"calls of Lambda at a time", float64(w.functions.most) + reads*pollTime.Seconds(), float64(w.Plan.Functions.Concurrency)},
		{"seconds of a sweep", w.functions.longest("sweep").Seconds(), sweepTimeout.Seconds()},
		{"calls of SubmitJob in a second", float64(w.fleet.mostSubmits), w.Plan.Fleet.Submits},
		{"instances", float64(w.fleet.most), float64(w.Plan.Fleet.Instances)},
	}
	slices.SortStableFunc(all, func(a, b limit) int { return cmp.Compare(b.share(), a.share()) })
	return all
}
