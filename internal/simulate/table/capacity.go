package table

// halfHour is how long it takes a table on demand to adapt to its load, in seconds.
const halfHour = 1800

// capacity is what the table or its index allows as a whole. On demand, that is twice the highest
// load before the last half hour, but at least the initial capacity.
type capacity struct {
	second  int64
	units   float64 // in this second
	most    float64 // most in any second
	half    int64   // number of the half hour
	peak    float64 // most in this half hour
	earlier float64 // most in any earlier half hour
}

func (c *capacity) fits(l Limits, second int64, units float64) bool {
	if c.second != second {
		c.second, c.units = second, 0
	}
	if half := second / halfHour; c.half != half {
		c.half, c.earlier, c.peak = half, max(c.earlier, c.peak), 0
	}
	return l.TableWrites == 0 || c.units+units <= min(l.TableWrites, max(l.StartWrites, 2*c.earlier))
}

func (c *capacity) add(units float64) {
	c.units += units
	c.most, c.peak = max(c.most, c.units), max(c.peak, c.units)
}
