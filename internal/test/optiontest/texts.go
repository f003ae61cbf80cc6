package optiontest

import (
	"encoding/json"
	"strings"
	"testing"

	"lipsync/internal/domain/order"
)

// Texts returns the jobs of all options by name, without media. The URL of boxes is one of example.com.
func Texts() map[string]Job {
	all := map[string]Job{}
	for _, c := range options(Media{}) {
		c.job.Options = strings.Replace(c.job.Options, BoxesURL, "https://example.com/boxes.json", 1)
		all[c.name] = c.job
	}
	return all
}

// Wishes returns the options that the texts of a job describe.
func (j Job) Wishes(t testing.TB) (o order.Options) {
	t.Helper()
	for _, c := range []struct {
		text string
		into any
	}{{j.Options, &o}, {j.Output, &o.Output}, {j.Segments, &o.Segments}} { // the first one resets the others
		if c.text == "" {
			continue
		}
		if err := json.Unmarshal([]byte(c.text), c.into); err != nil {
			t.Fatal(err)
		}
	}
	return o
}
