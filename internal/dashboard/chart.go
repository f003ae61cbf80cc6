package dashboard

import (
	"math"
	"time"

	"lipsync/internal/lipsync"
)

// Measures of a chart, in units of its own; as wide as the page.
const (
	chartWidth, chartHeight = 1000.0, 260.0
	axisLeft                = 44.0 // for the numbers beside the lines
	axisBottom              = 34.0 // for the dates under the bars
	chartTop                = 10.0
)

// chart is a bar a day, of two parts: what was lost lies at the bottom.
type chart struct {
	Name, Lost          string // of the bars and of their lower part, "" if they have none
	Width, Height, Left float64
	Lines               []line
	Bars                []bar
}

// line is one across the chart, at a number.
type line struct {
	Y     float64
	Label int64
}

// bar is a day's.
type bar struct {
	Date            time.Time
	Day             lipsync.Day
	X, Width        float64
	Done, Lost      part
	Label           string // under the bar and to its left, "" for most
	LabelX, LabelY  float64
	HitY, HitHeight float64 // the whole column, which tells the numbers
}

// part is the rectangle of one kind of request.
type part struct{ Y, Height float64 }

// requests are a day's, and those of them that failed.
func requests(d lipsync.Day) (all, lost float64) { return float64(d.Requests), float64(d.Failed) }

// minutes are those of a day's output.
func minutes(d lipsync.Day) (all, lost float64) { return d.Output.Minutes(), 0 }

// newChart draws a measure of the days, of which the last is that of now: a number,
// and how much of it was lost.
func newChart(days []lipsync.Day, now time.Time, measure func(lipsync.Day) (all, lost float64)) chart {
	c := chart{Width: chartWidth, Height: chartHeight, Left: axisLeft}
	var most int64
	for _, d := range days {
		all, _ := measure(d)
		most = max(most, int64(math.Ceil(all)))
	}
	step := lineStep(most)
	top := max(step, (most+step-1)/step*step)
	ground := chartHeight - axisBottom
	scale := (ground - chartTop) / float64(top)
	for n := int64(0); n <= top; n += step {
		c.Lines = append(c.Lines, line{Y: ground - float64(n)*scale, Label: n})
	}
	column := (chartWidth - axisLeft) / float64(len(days))
	for i, d := range days {
		all, lost := measure(d)
		all, lost = all*scale, lost*scale
		b := bar{
			Date: now.AddDate(0, 0, i-len(days)+1), Day: d,
			X: axisLeft + float64(i)*column + column*0.15, Width: column * 0.7,
			Lost: part{ground - lost, lost}, Done: part{ground - all, all - lost},
			HitY: chartTop, HitHeight: ground - chartTop,
		}
		if (len(days)-1-i)%7 == 0 {
			b.Label, b.LabelX, b.LabelY = b.Date.Format("2 Jan"), b.X+b.Width, chartHeight-6
		}
		c.Bars = append(c.Bars, b)
	}
	return c
}

// lineStep is how far apart the lines are: 1, 2 or 5 with zeros, for at most 5 of
// them up to the most.
func lineStep(most int64) int64 {
	rough := math.Max(1, float64(most)/5)
	unit := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, factor := range []float64{1, 2, 5} {
		if factor*unit >= rough {
			return int64(factor * unit)
		}
	}
	return int64(10 * unit)
}
