package medium

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"
)

// watchedArgs make ffmpeg's log have what the filter watched writes, and the level of each line.
var watchedArgs = []string{"-v", "level+info", "-hide_banner", "-nostats"}

// ownColours makes the decoder tell only the primaries and the transfer function that a picture itself tells. Otherwise pictures that tell none would
// have those of the container, or of a later picture among those by which ffmpeg finds out what a file has. The matrix may be the container's, since
// filters convert each picture by its matrix.
var ownColours = []string{"-color_primaries", "unknown", "-color_trc", "unknown"}

// watched is the filter that writes the colours of each picture into the log.
const watched = "showinfo=checksum=0"

// Watch reads the log of a decoder. It passes errors on, and compares the colours of the pictures with those of the video: no filter converts a
// transfer function or primaries that change in the middle, so such a video has to be refused.
type Watch struct {
	errors io.Writer

	line []byte // the last one, which hasn't ended
	kept bool   // whether it is passed on if it has no level

	mu                  sync.Mutex
	matrix              *constant // nil if the filters convert each picture's own
	primaries, transfer constant
	changed             error
}

// NewWatch returns the watch of a video's decoder.
func NewWatch(v *Video, errors io.Writer) *Watch {
	w := &Watch{errors: errors, kept: true,
		primaries: constant{what: "primaries change", value: v.primaries, alike: alikePrimaries, usual: usualPrimaries},
		transfer:  constant{what: "transfer function changes", value: v.transfer, alike: alikeTransfers, usual: usualTransfers},
	}
	if v.LosesHDR() || v.converts() || v.matrix != v.fileMatrix {
		w.matrix = &constant{what: "matrix changes", value: v.fileMatrix, usual: matricesKept}
	}
	return w
}

// mostLine bounds a line of the log.
const mostLine = 16 << 10

// Write takes a part of the log.
func (w *Watch) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 {
			end = len(rest)
		}
		w.line = append(w.line, rest[:min(end, mostLine-len(w.line))]...) // the rest of a longer line is lost
		if rest[end-1] == '\n' {
			w.read(strings.TrimSuffix(string(w.line), "\n") + "\n")
			w.line = w.line[:0]
		}
		rest = rest[end:]
	}
	return len(b), nil
}

// read reads a line.
func (w *Watch) read(line string) {
	from, said, component := "", line, "" // from has the components that said it
	for strings.HasPrefix(said, "[") {
		tag, after, _ := strings.Cut(said[1:], "] ")
		if !strings.Contains(tag, " @ 0x") {
			w.kept = slices.Contains([]string{"error", "fatal", "panic"}, tag)
			if strings.HasPrefix(component, "Parsed_showinfo_") && tag == "info" {
				w.picture(after)
			}
			said = after
			break
		}
		from, said, component = from+"["+tag+"] ", after, tag
	}
	if w.kept {
		_, _ = io.WriteString(w.errors, from+said)
	}
}

// picture reads what the filter says of a picture.
func (w *Watch) picture(said string) {
	fields := strings.Fields(said)
	value := func(name string) (string, bool) {
		for _, f := range fields {
			if v, found := strings.CutPrefix(f, name+":"); found {
				return v, true
			}
		}
		return "", false
	}
	curve, found := value("color_trc")
	if !found {
		return
	}
	primaries, _ := value("color_primaries")
	matrix, _ := value("color_space")
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.changed != nil {
		return
	}
	if w.changed = w.transfer.next(curve); w.changed == nil {
		w.changed = w.primaries.next(primaries)
	}
	if w.changed == nil && w.matrix != nil {
		w.changed = w.matrix.next(matrix)
	}
}

// Err returns the ColoursError of a picture whose colours differ from those of the video, nil if there was none.
func (w *Watch) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

// constant is a property of colours that all pictures have to share.
type constant struct {
	what  string // happens if not
	value string // of the video, as ffmpeg names it: of the container, or of one of the pictures that a probe reads; "" if it isn't known
	told  bool   // whether a picture told it
	quiet bool   // whether a picture didn't
	alike [][]string
	usual []string // what a picture that doesn't tell may have
}

// These are names of the same, or of what differs by less than one can see.
var (
	alikePrimaries = [][]string{{"ebu3213", "jedec-p22"}, {"smpte170m", "smpte240m"}}
	alikeTransfers = [][]string{{"bt709", "smpte170m", "smpte240m", "bt2020-10", "bt2020-12", "iec61966-2-4", "bt1361e"}}
)

// These are what pictures have that don't tell it, as players show them.
var (
	usualPrimaries = []string{"bt709", "bt470m", "bt470bg", "smpte170m", "smpte240m", "film", "ebu3213", "jedec-p22"}
	usualTransfers = append([]string{"bt470m", "bt470bg", "iec61966-2-1"}, alikeTransfers[0]...)
)

// next compares the next picture's value. It returns a ColoursError if it differs.
func (c *constant) next(value string) error {
	if !known(value) {
		if c.told && !slices.Contains(c.usual, c.value) {
			return c.changes("unknown")
		}
		c.quiet = true
		return nil // if no picture tells it, the value is the container's, or unknown
	}
	switch {
	case c.quiet && !slices.Contains(c.usual, value):
		c.value = "" // it may be that of this picture; Parse doesn't tell it from that of the container
		return c.changes(value)
	case !known(c.value) && !slices.Contains(c.usual, value):
		return c.changes(value)
	case !known(c.value):
		c.value = value
	case !c.same(value):
		return c.changes(value)
	}
	c.told = true
	return nil
}

func (c *constant) same(value string) bool {
	return value == c.value || slices.ContainsFunc(c.alike, func(all []string) bool {
		return slices.Contains(all, value) && slices.Contains(all, c.value)
	})
}

func (c *constant) changes(to string) error {
	from := c.value
	if from == "" {
		from = "unknown"
	}
	return ColoursError{c.what + " in the middle: " + from + ", then " + to}
}
