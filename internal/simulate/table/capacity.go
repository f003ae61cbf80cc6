package table

// halfHour is for how long a table on demand gets used to what it bears, in seconds.
const halfHour = 1800

// capacity is what the table, or its index, bears as a whole. On demand that is twice the most
// that it had to bear before the last half hour, but at least what it began with.
type capacity struct {
	second  int64
	units   float64 // in this second
	most    float64 // in any second
	half    int64   // the half hour
	peak    float64 // in this half hour
	earlier float64 // in any before
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
