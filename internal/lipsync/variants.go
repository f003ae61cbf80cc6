package lipsync

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Variant has the parameters of a request of a batch.
type Variant struct {
	Video       string  `json:"video"` // URL or upload://ID, as is Audio
	Audio       string  `json:"audio"`
	ReferenceID *string `json:"reference_id,omitempty"`
	LargestFace bool    `json:"largest_face,omitempty"`
	Engine      string  `json:"engine,omitempty"`
	Options     Options `json:"-"`
}

// storedVariant is a Variant as it is stored, with the text of its Options.
type storedVariant struct {
	Variant
	Options string `json:"options,omitempty"`
}

// maxLines is the largest size of the lines of a batch in bytes, as they are stored.
const maxLines = 64 << 20

func waitingLines(n int) string { return strings.Repeat(string(rune(LineWaiting)), n) }

// encodeLines returns the lines in JSON.
func encodeLines(lines []Variant) ([]byte, error) {
	stored := make([]storedVariant, len(lines))
	for n, l := range lines {
		stored[n] = storedVariant{l, l.Options.Text()}
	}
	return json.Marshal(stored)
}

// readLines reads the lines of a stored batch. It returns NotFound if they were deleted.
func (s *Service) readLines(ctx context.Context, b Batch) ([]Variant, error) {
	object, _, err := s.Objects.Open(ctx, b.object())
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(object, maxLines))
	var stored []storedVariant
	if err = errors.Join(err, object.Close()); err == nil {
		err = json.Unmarshal(text, &stored)
	}
	if err == nil && len(stored) != len(b.Lines) {
		err = fmt.Errorf("%d lines are stored, not %d", len(stored), len(b.Lines))
	}
	lines := make([]Variant, len(stored))
	for n, l := range stored {
		var optionsErr error
		lines[n] = l.Variant
		lines[n].Options, optionsErr = ParseOptions(l.Options)
		err = errors.Join(err, optionsErr)
	}
	if err != nil {
		return nil, fmt.Errorf("lines of the batch %s: %w", b.ID, err)
	}
	return lines, nil
}

// params returns the parameters of the variant's request.
func (v Variant) params() RequestParams {
	return RequestParams{
		Video: Source{URL: v.Video}, Audio: Source{URL: v.Audio}, LargestFace: v.LargestFace, Engine: v.Engine, Options: v.Options,
		ReferenceID: v.ReferenceID,
	}
}

// checkLines returns the problems for which lines would be refused. It returns Invalid for a wrong number of lines. It looks at each upload
// once, however many lines name it.
func (s *Service) checkLines(ctx context.Context, c Caller, lines []Variant) ([]LineProblem, error) {
	if len(lines) < 1 || len(lines) > MostLines {
		return nil, newError(Invalid, fmt.Sprintf("a batch has 1 to %d lines", MostLines))
	}
	type medium struct {
		kind MediaKind
		url  string
	}
	known := make(map[medium]int) // places in media
	var media []medium
	for _, l := range lines {
		for _, m := range []medium{{Video, l.Video}, {Audio, l.Audio}} {
			if _, ok := known[m]; !ok {
				known[m] = len(media)
				media = append(media, m)
			}
		}
	}
	refusals := make([]error, len(media))
	end := s.Now().Add(makeTime)
	err := s.sweepAll(len(media), end, func(i int) error {
		_, refusals[i] = s.input(ctx, c, media[i].kind, Source{URL: media[i].url})
		return unless(Invalid, refusals[i])
	})
	if err == nil && s.ended(end) {
		err = &Error{Code: RateLimited, Message: "rate limit exceeded", Err: errors.New("the uploads took too long to check")}
	}
	if err != nil {
		return nil, err
	}
	var problems []LineProblem
	for n, l := range lines {
		_, err := s.check(l.params())
		for _, m := range []medium{{Video, l.Video}, {Audio, l.Audio}} {
			if err == nil {
				err = refusals[known[m]]
			}
		}
		if err != nil {
			problems = append(problems, LineProblem{n + 1, MessageOf(err)})
		}
	}
	return problems, nil
}
