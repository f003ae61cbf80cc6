package table

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Count is the number of calls and units of a table.
type Count struct {
	Calls                    map[string]int64 // by operation, including retries
	ReadUnits, WriteUnits    float64          // of the table and its index
	Throttled, Conflicts     int64
	TableWrites, IndexWrites float64 // most units in a second
}

// Count returns the counts so far.
func (t *Table) Count() Count {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.count
	c.Calls = maps.Clone(c.Calls)
	c.TableWrites, c.IndexWrites = t.whole.most, t.wholeIndex.most
	return c
}

// called counts a call.
func (t *Table) called(operation string) {
	if t.count.Calls == nil {
		t.count.Calls = make(map[string]int64)
	}
	t.count.Calls[operation]++
}

// load is the load of a partition.
type load struct {
	second                int64
	writes, reads         float64 // units in this second
	items                 int     // written in this second
	mostWrites, mostReads float64 // in any second
	mostItems             int
	throttled             int64
}

func (l *load) at(second int64) *load {
	if l.second != second {
		l.second, l.writes, l.reads, l.items = second, 0, 0, 0
	}
	return l
}

// Partition is a kind of partitions of the table or its index, with the highest load of one of
// them in any second.
type Partition struct {
	Kind      string  // name without ids
	Name      string  // of the busiest one
	Items     int     // written
	Writes    float64 // in units
	Reads     float64 // in units
	Throttled int64   // calls to all partitions of the kind
}

// ids matches the parts of a partition's name that tell it from others of its kind.
var ids = regexp.MustCompile(`/(?:[0-9]+|[A-Za-z0-9_-]{43}|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{64})(?:/|$)`)

// kindOf returns the name of a partition without ids.
func kindOf(name string) string {
	for ids.MatchString(name) {
		name = ids.ReplaceAllStringFunc(name, func(s string) string { return strings.Repeat("/", strings.Count(s, "/")-1) + "…" })
	}
	return name
}

// Partitions returns the kinds of partitions, those with the most writes in a second first.
func (t *Table) Partitions() []Partition {
	t.mu.Lock()
	defer t.mu.Unlock()
	kinds := make(map[string]Partition)
	for name, l := range t.loads {
		k := kindOf(name)
		p := kinds[k]
		p.Kind = k
		p.Throttled += l.throttled
		p.Reads = max(p.Reads, l.mostReads)
		if l.mostWrites > p.Writes {
			p.Writes, p.Name = l.mostWrites, name
		}
		p.Items = max(p.Items, l.mostItems)
		kinds[k] = p
	}
	return slices.SortedFunc(maps.Values(kinds), func(a, b Partition) int {
		if a.Items != b.Items {
			return b.Items - a.Items
		}
		return strings.Compare(a.Kind, b.Kind)
	})
}

// own reports whether a partition belongs to one request or one idempotency key. Such a partition is
// never busy, and there are too many to count the load of each.
func own(partition string) bool {
	return strings.HasPrefix(partition, "request/") || strings.HasPrefix(partition, "idempotency/")
}

// change is a write of one row. Each of its rows may be nil.
type change struct {
	address
	old, next *row
	factor    float64 // 2 in a transaction
}

// part is a partition's share of some writes.
type part struct {
	name  string
	units float64
}

// parts returns the units that the table, its index and their partitions get from the writes.
func parts(changes []change) (table, index float64, all []part) {
	for _, c := range changes {
		units := c.factor * max(c.old.units(), c.next.units(), 1)
		table += units
		if !own(c.partition) {
			all = append(all, part{c.partition, units})
		}
		for _, p := range indexed(c.old, c.next) {
			index += p.units
			all = append(all, p)
		}
	}
	return table, index, all
}

// indexed returns the units that the index gets from a write. A row whose place changes is deleted
// and written.
func indexed(old, next *row) (all []part) {
	var before, after string
	if old != nil {
		before = old.indexPartition
	}
	if next != nil {
		after = next.indexPartition
	}
	moves := before != "" && (before != after || old.indexSort != next.indexSort)
	switch {
	case moves && before == after:
		return []part{{"index " + after, old.units() + next.units()}}
	case moves:
		all = append(all, part{"index " + before, old.units()})
	}
	if after != "" {
		all = append(all, part{"index " + after, next.units()})
	}
	return all
}

// take counts writes, if the table and the partitions allow them. It reports whether they do.
func (t *Table) take(changes ...change) bool {
	table, index, all := parts(changes)
	if !t.takeUnits(table, index, all) {
		return false
	}
	for _, p := range all {
		l := t.loads[p.name]
		l.items++
		l.mostItems = max(l.mostItems, l.items)
	}
	return true
}

// takeRefused counts a write whose condition fails, as take does. Such a write costs as many units
// as writing the item unchanged, and none of the index.
func (t *Table) takeRefused(c change) bool {
	c.next = nil
	table, _, all := parts([]change{c})
	return t.takeUnits(table, 0, slices.DeleteFunc(all, func(p part) bool { return p.name != c.partition }))
}

// takeUnits counts units of the table, its index and their partitions, if these allow them.
func (t *Table) takeUnits(table, index float64, all []part) bool {
	second := time.Now().Unix()
	if !t.whole.fits(t.Limits, second, table) || !t.wholeIndex.fits(t.Limits, second, index) {
		t.count.Throttled++
		return false
	}
	for _, p := range all {
		if l := t.load(p.name, second); t.PartitionWrites > 0 && l.writes+p.units > t.PartitionWrites {
			l.throttled++
			t.count.Throttled++
			return false
		}
	}
	for _, p := range all {
		l := t.load(p.name, second)
		l.writes += p.units
		l.mostWrites = max(l.mostWrites, l.writes)
	}
	t.whole.add(table)
	t.wholeIndex.add(index)
	t.count.WriteUnits += table + index
	return true
}

// takeRead counts a read of a partition, if the partition allows it.
func (t *Table) takeRead(partition string, units float64) bool {
	if !own(partition) {
		l := t.load(partition, time.Now().Unix())
		if t.PartitionReads > 0 && l.reads+units > t.PartitionReads {
			l.throttled++
			t.count.Throttled++
			return false
		}
		l.reads += units
		l.mostReads = max(l.mostReads, l.reads)
	}
	t.count.ReadUnits += units
	return true
}

func (t *Table) load(name string, second int64) *load {
	l := t.loads[name]
	if l == nil {
		l = new(load)
		t.loads[name] = l
	}
	return l.at(second)
}
