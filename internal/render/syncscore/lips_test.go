package syncscore

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/domain/order"
	"lipsync/internal/sound/score"
)

// someLips returns lips with closures in each tenth frame and vowels between them, and the gaps of both. The frames from 0 until before
// unread are read.
func someLips(frames, unread int, closed, open float32) Scorer {
	s := Scorer{faces: map[int]*scoredFace{}, scoredLips: scoredLips{lips: map[int]*readLips{}, due: make([]bool, frames)}}
	for at := 2; at+7 < frames; at += 10 {
		s.closures = append(s.closures, score.Viseme{From: at - 1, To: at + 1, Peak: at})
		s.vowels = append(s.vowels, score.Viseme{From: at + 5, To: at + 6, Peak: at + 5})
	}
	for o := range frames {
		gap := closed
		if o%10 > 4 {
			gap = open
		}
		s.lips[o] = &readLips{rest: .02, read: o < unread, gap: gap}
		s.due[o] = o%2 == 0
	}
	return s
}

// dueFrames returns the first n frames that are due in someLips, and frames between them that aren't.
func dueFrames(n int) (frames []int) {
	for o := range 2 * n {
		frames = append(frames, o)
	}
	return frames
}

// TestLipParts counts closures and vowels by gaps. Sounds whose lips weren't all read don't count.
func TestLipParts(t *testing.T) {
	for _, c := range []struct {
		name              string
		closed, open      float32
		unread, kept      int
		closures, opened  int // good ones
		heard, spokenGood int
	}{
		{"good", .01, .2, 100, 0, 10, 10, 10, 50},
		{"closed with the rest gap of the person", .03, .2, 100, 0, 10, 10, 10, 50},
		{"open", .2, .2, 100, 0, 0, 10, 10, 50},
		{"ajar", .05, .2, 100, 0, 0, 10, 10, 50},
		{"shut", .01, .02, 100, 0, 10, 0, 10, 50},
		{"half is not read", .01, .2, 50, 25, 5, 5, 5, 25},
		{"nothing is read", .01, .2, 0, 50, 0, 0, 0, 0},
	} {
		s := someLips(100, c.unread, c.closed, c.open)
		got := s.parts(dueFrames(c.kept), 25)
		want := order.SyncScore{Closures: order.Part{All: c.heard, Good: c.closures}, Vowels: order.Part{All: c.heard, Good: c.opened}, Spoken: order.Part{All: 50, Good: c.spokenGood}}
		for _, p := range []order.Part{got.Closures, got.Vowels} {
			if len(p.Missed) != p.All-p.Good {
				t.Errorf("%s: %d of %d are good, with the times of others %v", c.name, p.Good, p.All, p.Missed)
			}
		}
		got.Closures.Missed, got.Vowels.Missed, got.Curve = nil, nil, ""
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, want)
		}
	}
	s := someLips(40, 40, .05, .2)
	if got, want := s.parts(nil, 25).Closures.Missed, []float64{.1, .5, .9, 1.3}; !slices.Equal(got, want) {
		t.Errorf("missed at %v, want %v", got, want)
	}
	// This person never closes the lips in the video. Most painted closures close, so that it shows that one doesn't.
	s = someLips(100, 100, .003, .2)
	for _, l := range s.lips {
		l.rest = .05
	}
	s.lips[11].gap, s.lips[12].gap = .04, .04
	if got := s.parts(nil, 25).Closures; got.Good != 9 || got.All != 10 {
		t.Errorf("a person who never closes the lips: %+v, want 9 of 10", got)
	}
}

// TestCurve checks the score of each moment: a missed closure and frames that stay as in the video are notches of the seconds around them, and
// of a pause nothing is known.
func TestCurve(t *testing.T) {
	s := someLips(250, 250, .01, .2) // 10 s
	if got := s.parts(nil, 25).Curve; got != order.Curve(strings.Repeat("9", 40)) {
		t.Errorf("all is good: got %s", got)
	}
	s = someLips(250, 250, .01, .2)
	for o := 121; o < 124; o++ {
		s.lips[o].gap = .2 // the closure at frame 122, 4.9 s
	}
	missed := s.parts(nil, 25)
	if want := order.Curve("9999999999999999" + "77777777" + "9999999999999999"); missed.Curve != want || missed.Closures.Good != missed.Closures.All-1 {
		t.Errorf("a closure is missed: got %s, want %s", missed.Curve, want)
	}
	s = someLips(250, 0, .01, .2) // lips can't be read
	for o := range s.due {
		s.due[o] = o < 100
	}
	var kept []int
	for o := range 25 {
		kept = append(kept, o)
	}
	if got, want := s.parts(kept, 25).Curve, order.Curve("0013445566"+strings.Repeat("9", 9)+strings.Repeat("-", 21)); len(got) != len(want) || got[0] > '3' || got[12] != '9' || got[39] != '-' {
		t.Errorf("frames are kept, then nobody speaks: got %s", got)
	}
	s = someLips(25*3600, 0, .01, .2)
	if got := s.parts(nil, 25).Curve; len(got) != order.MostMoments {
		t.Errorf("an hour: got %d moments, want %d", len(got), order.MostMoments)
	}
	if got := (&scoredLips{}).parts(nil, 25).Curve; got != "" {
		t.Errorf("nothing: got %s", got)
	}
}

// TestLipsOfPieces checks that a score of mouths that pieces tell is the same, bit by bit.
func TestLipsOfPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	whole, resumed := someLips(300, 300, 0, 0), someLips(300, 0, 0, 0)
	for o, l := range whole.lips {
		if l.gap, l.read = 0, o%7 > 0; l.read {
			l.gap = r.Float32() * .1
		}
	}
	for from := 0; from < 300; from += 60 {
		text, err := json.Marshal(whole.Tell(from, from+60))
		if err != nil {
			t.Fatal(err)
		}
		var told Measured
		if err := json.Unmarshal(text, &told); err != nil {
			t.Fatal(err)
		}
		resumed.Recall(told)
	}
	if !reflect.DeepEqual(resumed.lips, whole.lips) {
		t.Error("the lips of pieces are others")
	}
	if got, want := resumed.parts(dueFrames(9), 25), whole.parts(dueFrames(9), 25); !reflect.DeepEqual(got, want) || got.Closures.All == 0 {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
