package dynamodbtest

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// load is the write load of a partition of the table or its index.
type load struct {
	second int64
	units  float64 // in this second
	writes int
	most   int // most writes in any second
}

// Partition is a partition of the table or its index, with the most writes that it had in a
// second.
type Partition struct {
	Name   string
	Writes int
}

// Busiest returns the partitions with the most writes in a second, at most n.
func (t *Table) Busiest(n int) (all []Partition) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, l := range t.partitions {
		all = append(all, Partition{name, l.most})
	}
	slices.SortFunc(all, func(a, b Partition) int { return cmp.Or(cmp.Compare(b.Writes, a.Writes), cmp.Compare(a.Name, b.Name)) })
	return all[:min(n, len(all))]
}

// take counts a write of an item in its partition, and in the partitions of the index that it
// changes. It reports whether all of them allow one more.
func (t *Table) take(a address, old, next item, factor float64) bool {
	if t.partitions == nil {
		t.partitions = make(map[string]*load)
	}
	units := map[string]float64{a.partition: factor * max(old.units(), next.units(), 1)}
	before, after := old[t.Index.Partition].text(), next[t.Index.Partition].text()
	if before != "" && (before != after || old[t.Index.Sort].text() != next[t.Index.Sort].text()) {
		units["index "+before] += old.units()
	}
	if after != "" && !maps.EqualFunc(old, next, value.equal) {
		units["index "+after] += next.units()
	}
	now := time.Now().Unix()
	for name, u := range units {
		l := t.partitions[name]
		if l == nil {
			l = new(load)
			t.partitions[name] = l
		}
		if l.second != now {
			l.second, l.units, l.writes = now, 0, 0
		}
		if t.Units > 0 && l.units+u > t.Units {
			return false
		}
	}
	for name, u := range units {
		l := t.partitions[name]
		l.units += u
		l.writes++
		l.most = max(l.most, l.writes)
	}
	return true
}
