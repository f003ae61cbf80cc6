package shown

import (
	"math"
	"time"

	"lipsync/internal/domain/lipsync"
)

// Sizes in a chart, in its own units. A chart is as wide as the page.
const (
	chartWidth, chartHeight = 1000.0, 260.0
	axisLeft                = 44.0 // for the numbers beside the lines
	axisBottom              = 34.0 // for the dates under the bars
	chartTop                = 10.0
)

// Chart has one bar for each day. The lower part of a bar is the number of failures.
type Chart struct {
	Name, Lost          string // names of the bars and of their lower part, which is "" if there is none
	Width, Height, Left float64
	Lines               []line
	Bars                []bar
}

// line is a horizontal line at a number.
type line struct {
	Y     float64
	Label int64
}

// bar is the bar of a day.
type bar struct {
	Date            time.Time
	Day             lipsync.Day
	X, Width        float64
	Done, Lost      part
	Label           string // label under the bar and to its left, "" for most bars
	LabelX, LabelY  float64
	HitY, HitHeight float64 // the whole column, which shows the numbers in a tooltip
}

// part is one of the two rectangles of a bar.
type part struct{ Y, Height float64 }

// Made returns the numbers of requests and of failed requests of a day.
func Made(d lipsync.Day) (all, lost float64) { return float64(d.Requests), float64(d.Failed) }

// Minutes returns the minutes of output of a day.
func Minutes(d lipsync.Day) (all, lost float64) { return d.Output.Minutes(), 0 }

// NewChart draws a chart of the days up to now. measure returns the height of a day's bar and of its
// lower part.
func NewChart(days []lipsync.Day, now time.Time, measure func(lipsync.Day) (all, lost float64)) Chart {
	c := Chart{Width: chartWidth, Height: chartHeight, Left: axisLeft}
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

// lineStep returns the distance between two lines: 1, 2 or 5, with zeros, so that a chart whose
// largest number is most has at most 5 lines.
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
