package people

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/domain/failure"
	"lipsync/internal/face/detection"
	"lipsync/internal/signal/geom"
	"lipsync/internal/test/check"
)

// facesOf returns the faces of frames.
func facesOf(t testing.TB, frames ...[]Seen) *Faces {
	t.Helper()
	f := NewFaces(check.Scratch(t))
	for _, all := range frames {
		check.Must(t, f.append(all))
	}
	return f
}

// TestPersonOfTracks chooses a person whom several tracks show, one of them twice as large as another of the same frame.
func TestPersonOfTracks(t *testing.T) {
	box := func(x, size float32) detection.Box { return detection.Box{X: x, Y: 50, Size: size} }
	all := facesOf(t,
		[]Seen{{track: 0, Person: 0, Box: box(50, 40)}, {track: 1, Person: 1, Box: box(80, 40)}},
		[]Seen{{track: 1, Person: 1, Box: box(80, 40)}},
		nil,
		[]Seen{{track: 2, Person: 1, Box: box(50, 40)}, {track: 3, Person: 0, Box: box(90, 40)}},
		[]Seen{{track: 4, Person: 1, Box: box(50, 20)}, {track: 5, Person: 1, Box: box(90, 40)}},
	)
	for x, want := range map[int][]int{
		52: {0, -1, -1, 3, -1}, // in both boxes of their overlap, nearer to the left one
		66: {1, 1, -1, 2, 5},
		75: {1, 1, -1, 2, 5},
	} {
		if got := all.PersonAt(0, geom.Point{X: float32(x), Y: 40}); !slices.Equal(got, want) {
			t.Errorf("at %d: got %v, want %v", x, got, want)
		}
	}
}

// TestLargest follows a person who is missed in two frames, while a larger one comes and goes.
func TestLargest(t *testing.T) {
	frames := make([][]Seen, 30)
	for i := range frames {
		if i >= 2 && i != 25 && i != 26 {
			frames[i] = append(frames[i], Seen{track: 0, Box: detection.Box{Size: 100}})
		}
		if i >= 10 && i < 20 {
			frames[i] = append(frames[i], Seen{track: 1, Box: detection.Box{Size: 140}})
		}
	}
	largest := facesOf(t, frames...).Largest()
	for frame, want := range map[int]int{0: -1, 2: 0, 9: 0, 10: 1, 19: 1, 20: 0, 25: -1, 26: -1, 29: 0} {
		if got := largest(frame); got != want {
			t.Errorf("frame %d: got %d, want %d", frame, got, want)
		}
	}
}

// TestBestBox chooses the face whose box has the largest IoU with the client's, among those whose middles it contains.
func TestBestBox(t *testing.T) {
	all := facesOf(t, []Seen{{track: 0, Person: 0, Box: detection.Box{X: 50, Y: 50, Size: 20}}, {track: 1, Person: 1, Box: detection.Box{X: 60, Y: 50, Size: 40}}, {track: 2, Person: 2, Box: detection.Box{X: 95, Y: 50, Size: 40}}})
	for box, want := range map[Rect]int{
		{40, 40, 60, 60}:  0,
		{35, 30, 80, 70}:  1,
		{75, 30, 115, 70}: 2,
		{61, 51, 94, 70}:  -1,
	} {
		if got, err := all.InBoxes(func(int) *Rect { return &box }); (err == nil) != (want >= 0) || err == nil && got[0] != want {
			t.Errorf("%v: got %v, %v, want %d", box, got, err, want)
		}
	}
}

// FuzzBoxes reads files of boxes.
func FuzzBoxes(f *testing.F) {
	for _, text := range []string{"[]", "[null,[1,2,3,4]]", "[[1,2,3,4.5e1]", `{"a":1}`, "[[1,2,null,4]]", "[1]", "[[[]]]", "[[1e999,2,3,4]]", "[[4,3,2,1]]", "[" + strings.Repeat("[", 20000)} {
		f.Add(text, 2)
	}
	f.Fuzz(func(t *testing.T, text string, n int) {
		n = min(max(n, 0), 1000)
		boxes, err := ParseBoxes(strings.NewReader(text), n)
		if err != nil {
			if failure.Of(err).Code != failure.BoxInvalid {
				t.Errorf("got %v", err)
			}
			return
		}
		if len(boxes) > n {
			t.Errorf("got %d boxes, want %d at most", len(boxes), n)
		}
		for _, b := range boxes {
			if b != nil && !(b.left < b.right && b.top < b.bottom && math.Abs(float64(b.right)) < math.Inf(1)) {
				t.Errorf("got %s", fmt.Sprint(*b))
			}
		}
	})
}

// TestFacesUnread tells that faces can't be read from their file.
func TestFacesUnread(t *testing.T) {
	file := check.Scratch(t)
	f := NewFaces(file)
	check.Must(t, f.append([]Seen{{track: 3}}))
	if got := f.Of(3, 0); got == nil || f.Failed() != nil {
		t.Errorf("got %v (%v), want a face", got, f.Failed())
	}
	file.Close()
	if got := f.Of(3, 0); got != nil || f.Failed() == nil {
		t.Errorf("of a closed file: got %v (%v), want an error", got, f.Failed())
	}
	if err := f.append([]Seen{{}}); err == nil {
		t.Error("a face was kept in a closed file")
	}
}
