package table

import "slices"

// keyCondition is the condition of a query: a partition, and optionally bounds of the sort key. Its
// strings are the names of the values.
type keyCondition struct {
	partition          string
	low, high          string // "" for none
	aboveLow, belowTop bool   // whether the bound itself is excluded
}

// readKey parses #pk = :pk, optionally with AND and a comparison of the sort key, or BETWEEN.
func readKey(p *parser) (k keyCondition) {
	p.attribute()
	p.expect("=")
	k.partition = p.value()
	if !p.accept("AND") {
		return k
	}
	p.attribute()
	switch p.next() {
	case "BETWEEN":
		k.low = p.value()
		p.expect("AND")
		k.high = p.value()
	case ">":
		k.low, k.aboveLow = p.value(), true
	case ">=":
		k.low = p.value()
	case "<":
		k.high, k.belowTop = p.value(), true
	case "<=":
		k.high = p.value()
	default:
		p.fail()
	}
	return k
}

// from returns the rows that meet the condition.
func (k keyCondition) from(all rows, values item, sortOf func(*row) string) rows {
	// place returns how many rows come before the bound, with or without those equal to it.
	place := func(bound string, with bool) int {
		n, _ := slices.BinarySearchFunc(all, bound, func(r *row, bound string) int {
			if s := sortOf(r); s < bound || with && s == bound {
				return -1
			}
			return 1
		})
		return n
	}
	first, last := 0, len(all)
	if k.low != "" {
		first = place(text(values[k.low]), k.aboveLow)
	}
	if k.high != "" {
		last = place(text(values[k.high]), !k.belowTop)
	}
	return all[first:max(first, last)]
}
