package table

import (
	"slices"
	"strings"
	"time"
)

// row is an item as it was written. It never changes.
type row struct {
	item
	partition, sort           string
	indexPartition, indexSort string // "" if it is not in the index
	bytes                     int
}

func (t *Table) newRow(i item) *row {
	r := &row{
		item: i, partition: text(i[t.Keys.Partition]), sort: text(i[t.Keys.Sort]),
		indexPartition: text(i[t.Index.Partition]), indexSort: text(i[t.Index.Sort]), bytes: sizeOf(i),
	}
	if r.indexPartition == "" || r.indexSort == "" {
		r.indexPartition, r.indexSort = "", ""
	}
	return r
}

// maxItem is the largest size of an item in bytes, as on AWS.
const maxItem = 400 << 10

// check refuses a row that AWS does not store.
func (t *Table) check(r *row) error {
	if r.bytes > maxItem {
		return invalid("Item size has exceeded the maximum allowed size")
	}
	for _, name := range []string{t.Index.Partition, t.Index.Sort} {
		if v, ok := r.item[name]; ok && text(v) == "" {
			return invalid("the key %s of the index is empty or no string", name)
		}
	}
	return nil
}

// units returns how many write units it takes to write the row; 0 for nil.
func (r *row) units() float64 {
	if r == nil {
		return 0
	}
	return float64((r.bytes + 1023) / 1024)
}

// rows is a sorted list of rows.
type rows []*row

func bySort(r *row, sort string) int { return strings.Compare(r.sort, sort) }

// byIndexSort compares rows of the index, several of which may have the same sort key.
func byIndexSort(a, b *row) int {
	if n := strings.Compare(a.indexSort, b.indexSort); n != 0 {
		return n
	}
	if n := strings.Compare(a.partition, b.partition); n != 0 {
		return n
	}
	return strings.Compare(a.sort, b.sort)
}

// lookup returns the row with the key, or nil.
func (t *Table) lookup(partition, sort string) *row {
	all := t.items[partition]
	if n, ok := slices.BinarySearchFunc(all, sort, bySort); ok {
		return all[n]
	}
	return nil
}

// set replaces a row by another. Each may be nil. The index changes later.
func (t *Table) set(old, next *row) {
	k := next
	if k == nil {
		k = old
	}
	if k == nil {
		return
	}
	all := t.items[k.partition]
	n, ok := slices.BinarySearchFunc(all, k.sort, bySort)
	switch {
	case next == nil && ok && len(all) == 1:
		delete(t.items, k.partition)
	case next == nil && ok:
		t.items[k.partition] = slices.Delete(all, n, n+1)
	case next != nil && ok:
		all[n] = next
	case next != nil:
		t.items[k.partition] = slices.Insert(all, n, next)
	}
	if old != nil && old.indexPartition != "" || next != nil && next.indexPartition != "" {
		t.behind = append(t.behind, lagging{time.Now().Add(t.Lag), old, next})
	}
}

// lagging is a change of the index that is not visible yet.
type lagging struct {
	due       time.Time
	old, next *row
}

// settle makes those changes of the index visible that are due.
func (t *Table) settle() {
	now := time.Now()
	n := 0
	for ; n < len(t.behind) && !t.behind[n].due.After(now); n++ {
		t.reindex(t.behind[n].old, t.behind[n].next)
	}
	t.behind = slices.Delete(t.behind, 0, n)
}

func (t *Table) reindex(old, next *row) {
	if old != nil && old.indexPartition != "" {
		all := t.index[old.indexPartition]
		if n, ok := slices.BinarySearchFunc(all, old, byIndexSort); ok {
			t.index[old.indexPartition] = slices.Delete(all, n, n+1)
		}
	}
	if next != nil && next.indexPartition != "" {
		all := t.index[next.indexPartition]
		n, ok := slices.BinarySearchFunc(all, next, byIndexSort)
		if ok {
			all[n] = next
		} else {
			t.index[next.indexPartition] = slices.Insert(all, n, next)
		}
	}
}
