package simulate

import "time"

// midnight returns the time at which the simulation begins.
func midnight() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

// hours has a duration for each hour of the day. The last hour includes all times after the day.
type hours [24]time.Duration

// hourOf returns the hour of the simulated day, from 0.
func hourOf(t time.Time) int { return min(int(t.Sub(midnight())/time.Hour), len(hours{})-1) }

// add adds the time between two moments, each part of it to its hour.
func (h *hours) add(from, to time.Time) {
	for from.Before(to) {
		end := from.Truncate(time.Hour).Add(time.Hour)
		if to.Before(end) {
			end = to
		}
		h[hourOf(from)] += end.Sub(from)
		from = end
	}
}
