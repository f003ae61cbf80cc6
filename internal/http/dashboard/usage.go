package dashboard

import (
	"net/http"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/http/shown"
)

// usageDays is the number of days on the page of usage.
const usageDays = 30

// usagePage is the page of the last days' usage, and of the bytes that the account stores.
type usagePage struct {
	Stored, Limit int64      // bytes that the account stores, and that it may store
	Days          []usageDay // newest first
	Total         lipsync.Day
	Charts        []shown.Chart
}

// usageDay is one day, UTC.
type usageDay struct {
	Date time.Time
	lipsync.Day
}

func (p *pages) showUsage(v *visit) error {
	now := p.service.Now().UTC()
	days, err := p.service.Usage(v.Context(), v.caller(), now, usageDays)
	if err != nil {
		return err
	}
	counts, lengths := shown.NewChart(days, now, shown.Made), shown.NewChart(days, now, shown.Minutes)
	counts.Name, counts.Lost, lengths.Name = "Requests", "Failed", "Minutes of output"
	page := usagePage{Charts: []shown.Chart{counts, lengths}}
	page.Stored, page.Limit, err = p.service.Stored(v.Context(), v.caller(), now)
	if err != nil {
		return err
	}
	for i := len(days) - 1; i >= 0; i-- {
		d := days[i]
		page.Days = append(page.Days, usageDay{now.AddDate(0, 0, i-len(days)+1), d})
		page.Total.Requests += d.Requests
		page.Total.Failed += d.Failed
		page.Total.Output += d.Output
	}
	return v.show(http.StatusOK, "usage", "Usage", page)
}
