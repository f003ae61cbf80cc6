package batches

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
)

// Variant is a line of a new batch, in JSON as calls of the API have it.
type Variant struct {
	Video string `json:"video"` // URL or upload://ID, as is Audio
	Audio string `json:"audio"`
	order.Order

	Ignored []string `json:"-"` // names of fields that the service doesn't know
	Err     error    `json:"-"` // why the variant can't be used, if that was found when it was read: an Error that is Invalid; otherwise nil
}

// storedLines has the lines of a batch as they are stored. Its media are the URLs of all lines, each once: most lines have the same video.
type storedLines struct {
	Media []string     `json:"media"`
	Lines []storedLine `json:"lines"`
}

// storedLine is a Variant with the places of its URLs in the media, and with the text of its Options.
type storedLine struct {
	Video       int      `json:"video"`
	Audio       int      `json:"audio"`
	ReferenceID *string  `json:"reference_id,omitempty"`
	LargestFace bool     `json:"largest_face,omitempty"`
	Engine      string   `json:"engine,omitempty"`
	Options     string   `json:"options,omitempty"`
	Ignored     []string `json:"ignored,omitempty"`
}

// maxLines is the largest size of the lines of a batch in bytes, as they are stored. A body of the API is smaller.
const maxLines = 16 << 20

func waitingLines(n int) string { return strings.Repeat(string(rune(lipsync.LineWaiting)), n) }

// encodeLines returns the lines in JSON. It returns Invalid if there are too many, or if they are too large.
func encodeLines(lines []Variant) ([]byte, error) {
	if len(lines) < 1 || len(lines) > lipsync.MostLines {
		return nil, failure.New(failure.Invalid, fmt.Sprintf("a batch has 1 to %d lines", lipsync.MostLines))
	}
	var stored storedLines
	places := make(map[string]int)
	place := func(url string) int {
		if _, known := places[url]; !known {
			places[url] = len(stored.Media)
			stored.Media = append(stored.Media, url)
		}
		return places[url]
	}
	for _, l := range lines {
		stored.Lines = append(stored.Lines, storedLine{place(l.Video), place(l.Audio), l.ReferenceID, l.LargestFace, l.Engine, l.Whole().Text(), l.Ignored})
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // URLs have many &
	if err := e.Encode(stored); err != nil {
		return nil, err
	}
	if text.Len() > maxLines {
		return nil, failure.New(failure.Invalid, "the lines of the batch are too large")
	}
	return text.Bytes(), nil
}

// readLines reads the lines of a stored batch. It returns NotFound if they were deleted.
func (s *Service) readLines(ctx context.Context, b lipsync.Batch) ([]Variant, error) {
	object, _, err := s.Objects.Open(ctx, b.Object())
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(object, maxLines))
	var lines []Variant
	if err = errors.Join(err, object.Close()); err == nil {
		lines, err = decodeLines(text)
	}
	if err == nil && len(lines) != len(b.Lines) {
		err = fmt.Errorf("%d lines are stored, not %d", len(lines), len(b.Lines))
	}
	if err != nil {
		return nil, fmt.Errorf("lines of the batch %s: %w", b.ID, err)
	}
	return lines, nil
}

// decodeLines reads what encodeLines returned.
func decodeLines(text []byte) (lines []Variant, err error) {
	var stored storedLines
	if err := json.Unmarshal(text, &stored); err != nil {
		return nil, err
	}
	for _, l := range stored.Lines {
		options, err := order.ParseOptions(l.Options)
		if err != nil {
			return nil, err
		}
		if min(l.Video, l.Audio) < 0 || max(l.Video, l.Audio) >= len(stored.Media) {
			return nil, errors.New("a line has a medium that is not there")
		}
		o := order.OrderOf(options)
		o.ReferenceID, o.LargestFace, o.Engine = l.ReferenceID, l.LargestFace, l.Engine
		lines = append(lines, Variant{Video: stored.Media[l.Video], Audio: stored.Media[l.Audio], Order: o, Ignored: l.Ignored})
	}
	return lines, nil
}

// params returns the parameters of the variant's request.
func (v Variant) params() requests.Params {
	return requests.Params{Video: requests.Source{URL: v.Video}, Audios: []requests.Track{{Source: requests.Source{URL: v.Audio}}}, Order: v.Order, Ignored: v.Ignored}
}

// checkLines returns the problems for which lines would be refused. It looks at each upload once, however many lines name it. It returns
// RateLimited if that isn't done at the time end.
func (s *Service) checkLines(ctx context.Context, c lipsync.Caller, lines []Variant, end time.Time) ([]LineProblem, error) {
	type medium struct {
		kind failure.MediaKind
		url  string
	}
	known := make(map[medium]int) // places in media
	var media []medium
	for _, l := range lines {
		if l.Err != nil {
			continue
		}
		for _, m := range []medium{{failure.Video, l.Video}, {failure.Audio, l.Audio}} {
			if _, ok := known[m]; !ok {
				known[m] = len(media)
				media = append(media, m)
			}
		}
	}
	refusals := make([]error, len(media))
	err := s.Each(len(media), end, func(i int) error {
		_, _, refusals[i] = s.Input(ctx, c, media[i].kind, requests.Source{URL: media[i].url})
		return failure.Unless(failure.Invalid, refusals[i])
	})
	if err == nil && s.Over(end) {
		err = failure.RateLimit(0, errors.New("the uploads took too long to check"))
	}
	if err != nil {
		return nil, err
	}
	var problems []LineProblem
	for n, l := range lines {
		err := l.Err
		if err == nil {
			_, err = s.CheckParams(l.params())
		}
		for _, m := range []medium{{failure.Video, l.Video}, {failure.Audio, l.Audio}} {
			if err == nil {
				err = refusals[known[m]]
			}
		}
		if err != nil {
			problems = append(problems, LineProblem{n + 1, failure.MessageOf(err)})
		}
	}
	return problems, nil
}
