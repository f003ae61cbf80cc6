package jobs

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"lipsync/cmd/lipsync/internal/flags"
	"lipsync/internal/domain/order"
)

// Result is what a command says about one output: in words, or as a line of JSON.
type Result struct {
	Video    string      `json:"video"`
	Audio    string      `json:"audio"`
	Output   string      `json:"output,omitzero"` // "" if there is none
	Request  string      `json:"request_id,omitzero"`
	Frames   int         `json:"frames,omitzero"`
	Synced   int         `json:"synced_frames,omitzero"`
	Unsynced []order.Gap `json:"unsynced,omitempty"`
	LeftOut  int         `json:"unsynced_left_out,omitzero"`
	Warnings []string    `json:"warnings,omitempty"`
	Score    *float64    `json:"sync_score,omitempty"` // nil if it isn't known
	Sync     string      `json:"sync,omitzero"`        // how well the lips follow the speech, in words
	Error    string      `json:"error,omitzero"`       // why there is no output
}

// print prints what the user of an output should know, in the sentences that the dashboard has too, but with the names of flags.
func (r Result) print(w io.Writer) error {
	var lines []string
	if r.Synced < r.Frames {
		gaps := order.Unsynced{Gaps: r.Unsynced, LeftOut: r.LeftOut}.Says()
		lines = []string{fmt.Sprintf("Synced %d of %d frames", r.Synced, r.Frames), cmp.Or(gaps, "The rest is as in the video, as asked.")}
	}
	sync := r.Sync
	if r.Score != nil {
		sync = fmt.Sprintf("Sync score %.3f: %s", *r.Score, r.Sync)
	}
	for _, line := range slices.Concat(lines, r.Warnings, []string{sync}) {
		if line == "" {
			continue
		}
		if _, err := fmt.Fprintln(w, flags.Words(line)); err != nil {
			return err
		}
	}
	return nil
}

// Tell prints the result as a line of JSON, if asked, and otherwise in words; err is why there is none. It returns err.
func (r Result) Tell(asJSON bool, out, said io.Writer, err error) error {
	switch {
	case asJSON && err != nil:
		r.Error, r.Output = err.Error(), ""
		return errors.Join(err, json.NewEncoder(out).Encode(r))
	case asJSON:
		return json.NewEncoder(out).Encode(r)
	case err != nil:
		return err
	}
	return r.print(said)
}

// Reasoned returns the error of a failure with a sentence, and what is known besides.
func Reasoned(sentence, reason string) error {
	if reason == "" {
		return errors.New(sentence)
	}
	return fmt.Errorf("%s (%s)", sentence, reason)
}
