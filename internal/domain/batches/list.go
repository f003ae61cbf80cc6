package batches

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// ParseList reads lines of a batch, as CSV or as JSON Lines. The video counts for lines without one, and the order for lines of CSV. Errors name
// the line, counted from 1 without a header.
func ParseList(text, video string, o order.Order) (lines []Variant, err error) {
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

func parseJSONLines(text string) (lines []Variant, err error) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if len(lines) == lipsync.MostLines {
			return nil, tooMany()
		}
		var one Variant
		d := json.NewDecoder(bytes.NewReader([]byte(line)))
		d.DisallowUnknownFields()
		if err := d.Decode(&one); err != nil {
			return nil, inLine(len(lines)+1, err)
		}
		lines = append(lines, one)
	}
	return lines, nil
}

func parseCSV(text string, o order.Order) (lines []Variant, err error) {
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
		l := Variant{Order: o}
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
func setField(l *Variant, name, value string) error {
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
