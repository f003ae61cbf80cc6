package dashboard

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"lipsync/internal/domain/batches"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// createBatch makes a batch of the form for a new request, and leads to its page: of a list, or of several speeches for one video.
func (p *pages) createBatch(v *visit) error {
	n, segments, err := readNew(v.PostForm)
	n.List = strings.TrimSpace(v.PostForm.Get("list"))
	var lines []batches.Variant
	switch {
	case err != nil:
	case segments != nil:
		err = failure.New(failure.Invalid, "a request of a batch can't have segments")
	case n.List != "":
		lines, err = parseList(n.List, n.Video, n.Order)
	default:
		lines = speechLines(v.PostForm, n)
	}
	if err == nil {
		err = p.service.Allow(v.Context(), v.caller(), lipsync.GenerateCall)
	}
	var b lipsync.Batch
	if err == nil {
		params := batches.Params{Lines: lines}
		if v.PostForm.Has("once") {
			params.IdempotencyKey = new(digest(v.PostForm.Encode()))
		}
		b, err = p.service.CreateBatch(v.Context(), v.caller(), params)
	}
	switch failure.CodeOf(err) {
	case "":
		return v.leadTo(p.root + "/batches/" + url.PathEscape(b.ID))
	case failure.Invalid:
		n.Problem = failure.MessageOf(err)
		return p.showNew(v, http.StatusBadRequest, n)
	default:
		return err
	}
}

// speechLines returns a line for each speech of the form, named after its file.
func speechLines(form url.Values, n newPage) (lines []batches.Variant) {
	names := form["speech_name"]
	for i, speech := range form["speech"] {
		l := batches.Variant{Video: n.Video, Audio: strings.TrimSpace(speech), Order: n.Order}
		if l.ReferenceID = nil; i < len(names) && names[i] != "" {
			l.ReferenceID = &names[i]
		}
		lines = append(lines, l)
	}
	return lines
}

// parseList reads lines of a batch, as CSV or as JSON Lines. The video counts for lines without one, and the order for lines of CSV. Errors name
// the line, counted from 1 without a header.
func parseList(text, video string, o order.Order) (lines []batches.Variant, err error) {
	if strings.HasPrefix(text, "{") {
		lines, err = parseJSONLines(text)
	} else {
		lines, err = parseCSV(text, o)
	}
	for i := range lines {
		lines[i].Video = cmp.Or(lines[i].Video, video)
	}
	return lines, err
}

// tooMany is the refusal of a list with too many lines.
func tooMany() error {
	return failure.New(failure.Invalid, fmt.Sprintf("a batch has 1 to %d lines", lipsync.MostLines))
}

func inLine(n int, err error) error {
	if _, ok := errors.AsType[*failure.Error](err); !ok {
		err = errors.New("it can't be read")
	}
	return failure.New(failure.Invalid, fmt.Sprintf("line %d: %s", n, err))
}

func parseJSONLines(text string) (lines []batches.Variant, err error) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if len(lines) == lipsync.MostLines {
			return nil, tooMany()
		}
		var one batches.Variant
		d := json.NewDecoder(bytes.NewReader([]byte(line)))
		d.DisallowUnknownFields()
		if err := d.Decode(&one); err != nil {
			return nil, inLine(len(lines)+1, err)
		}
		lines = append(lines, one)
	}
	return lines, nil
}

func parseCSV(text string, o order.Order) (lines []batches.Variant, err error) {
	r := csv.NewReader(strings.NewReader(text))
	r.TrimLeadingSpace = true
	header, err := r.Read()
	if err != nil {
		return nil, failure.New(failure.Invalid, "the header of the list can't be read")
	}
	for {
		row, err := r.Read()
		switch {
		case err == io.EOF:
			return lines, nil
		case err != nil:
			return nil, failure.New(failure.Invalid, fmt.Sprintf("line %d of the list can't be read: it needs as many fields as the header", len(lines)+1))
		case len(lines) == lipsync.MostLines:
			return nil, tooMany()
		}
		l := batches.Variant{Order: o}
		l.ReferenceID = nil
		for i, name := range header {
			if err := setField(&l, strings.TrimSpace(name), strings.TrimSpace(row[i])); err != nil {
				return nil, inLine(len(lines)+1, err)
			}
		}
		lines = append(lines, l)
	}
}

// setField sets a field of a line to what a column has. An empty field leaves it.
func setField(l *batches.Variant, name, value string) error {
	switch {
	case value == "":
		return nil
	case name == "video":
		l.Video = value
	case name == "audio":
		l.Audio = value
	case name == "reference_id":
		l.ReferenceID = &value
	case name == "model":
		l.Engine = value
	default:
		return l.Set(name, value)
	}
	return nil
}
