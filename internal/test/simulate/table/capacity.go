package table

// halfHour is the time in seconds after which a table on demand has adapted to its load.
const halfHour = 1800

// capacity counts the write units of the table or its index as a whole, and limits them. On demand,
// the limit is twice the highest load in any earlier half hour, but at least StartWrites and at most
// TableWrites.
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
