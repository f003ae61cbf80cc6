package speaker

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"lipsync/internal/speech"
)

const fps = 25

// person is a face in a scene: where it is seen, and how its lips move.
type person struct {
	track    int32
	size     float32
	errs     float32 // the size, by as much of it at most
	from, to int
	gone     []int
	mouth    func(frame int) float32 // its motion
}

// play plays a scene of some frames; shots start at the cuts.
func play(frames int, cuts []int, people ...person) *Analyser {
	a := New(fps, nil)
	for i := range frames {
		var seen []observation
		for _, p := range people {
			if i >= p.from && i < p.to && !slices.Contains(p.gone, i) {
				wave := float32(math.Sin(float64(i) * .1 * float64(p.track+1)))
				seen = append(seen, observation{p.track, p.size * (1 + p.errs*wave), p.mouth(i)})
			}
		}
		a.record(seen, slices.Contains(cuts, i))
	}
	return a
}

// loud tells when the sound of the tests is: half of each second.
func loud(frame int) bool { return frame/12%2 == 0 }

func rests(int) float32 { return 0 }

// trembles is how landmarks err on lips that are still.
func trembles(frame int) float32 { return .035 + .02*float32(math.Sin(float64(frame)*1.3)) }

// speaks moves the lips while there is sound.
func speaks(frame int) float32 {
	if !loud(frame) {
		return trembles(frame)
	}
	return .2 + .1*float32(math.Sin(float64(frame)*1.3))
}

// from lets someone move the lips from a frame on, up to another.
func from(first, end int, moves func(int) float32) func(int) float32 {
	return func(frame int) float32 {
		if frame < first || frame >= end {
			return trembles(frame)
		}
		return moves(frame)
	}
}

// talks moves the lips without a pause.
func talks(int) float32 { return .2 }

// mumbles moves them less.
func mumbles(int) float32 { return .1 }

// halts moves them too, except for a third of a second.
func halts(frame int) float32 { return .2 - from(46, 54, talks)(frame) }

// chews moves them while there is none.
func chews(frame int) float32 { return speaks(frame + 12) }

func TestActive(t *testing.T) {
	sound := tone(t, 200)
	one := func(f func(int) float32) person { return person{track: 0, size: 100, to: 100, mouth: f} }
	two := func(f func(int) float32) person { return person{track: 1, size: 140, to: 100, mouth: f} }
	for _, c := range []struct {
		name  string
		scene *Analyser
		mute  bool
		want  []int // in frames 0, 25, 50, 75 and 99
	}{
		{"no face", play(100, nil), false, []int{-1, -1, -1, -1, -1}},
		{"one who is still", play(100, nil, one(rests)), false, []int{0, 0, 0, 0, 0}},
		{"one who is still, and no sound", play(100, nil, one(rests)), true, []int{0, 0, 0, 0, 0}},
		{"who moves the lips rather than who is large", play(100, nil, one(speaks), two(rests)), false, []int{0, 0, 0, 0, 0}},
		{"also without sound", play(100, nil, one(speaks), two(rests)), true, []int{0, 0, 0, 0, 0}},
		{"who moves them with the sound", play(100, nil, one(speaks), two(chews)), false, []int{0, 0, 0, 0, 0}},
		{"whoever that is", play(100, nil, one(chews), two(speaks)), false, []int{1, 1, 1, 1, 1}},
		{"the largest of those who are still", play(100, nil, one(rests), two(rests)), false, []int{1, 1, 1, 1, 1}},
		{"landmarks that tremble are still", play(100, nil, one(trembles), two(rests)), false, []int{1, 1, 1, 1, 1}},
		{"of those, however little larger", play(100, nil, one(rests), person{track: 1, size: 102, to: 100, mouth: rests}), false, []int{1, 1, 1, 1, 1}},
		{"who spoke last doesn't keep the turn for a little size", play(100, nil, person{track: 0, size: 102, to: 100, mouth: from(0, 40, speaks)},
			person{track: 1, size: 100, to: 100, mouth: from(73, 100, speaks)}), false, []int{0, 0, 1, 1, 1}},
		{"the largest of those who are still, and no sound", play(100, nil, one(rests), two(rests)), true, []int{1, 1, 1, 1, 1}},
		{"shot by shot", play(100, []int{50},
			person{track: 0, size: 100, to: 50, mouth: speaks}, person{track: 1, size: 100, to: 50, mouth: rests},
			person{track: 2, size: 100, from: 50, to: 100, mouth: rests}, person{track: 3, size: 100, from: 50, to: 100, mouth: speaks},
		), false, []int{0, 0, 3, 3, 3}},
		{"a shot with no face", play(100, []int{40, 60}, person{track: 0, size: 100, to: 40, mouth: speaks},
			person{track: 1, size: 100, from: 60, to: 100, mouth: speaks}), false, []int{0, 0, -1, 1, 1}},
		{"who leaves is gone", play(100, nil, person{track: 0, size: 100, to: 60, mouth: speaks}), false, []int{0, 0, 0, -1, -1}},
		{"gone for some frames", play(100, nil, person{track: 0, size: 100, to: 100, mouth: speaks,
			gone: []int{24, 25, 26, 27, 28}}), false, []int{0, -1, 0, 0, 0}},
		{"gone around a cut", play(100, []int{25}, person{track: 0, size: 100, to: 100, mouth: speaks,
			gone: []int{24, 25}}), false, []int{0, -1, 0, 0, 0}},
		{"in turn", play(100, nil, one(from(0, 48, speaks)), two(from(48, 100, speaks))), false, []int{0, 0, 1, 1, 1}},
		{"in turn, without sound", play(100, nil, one(from(0, 40, talks)), two(from(40, 100, talks))), true, []int{0, 0, 1, 1, 1}},
		{"in three turns", play(100, nil, one(from(0, 36, talks)), two(from(36, 64, talks)), person{track: 2, size: 100, to: 100, mouth: from(64, 100, talks)}), true, []int{0, 0, 1, 2, 2}},
		{"no turn is a third of a second", play(100, nil, one(halts), two(from(46, 54, talks))), true, []int{0, 0, 0, 0, 0}},
		{"who spoke last while no one does", play(100, nil, one(from(0, 20, talks)), two(rests)), true, []int{0, 0, 0, 0, 0}},
		{"who speaks next while no one does", play(100, nil, one(from(80, 100, talks)), two(rests)), true, []int{0, 0, 0, 0, 0}},
		{"the larger of two who move the lips, without sound", play(100, nil, one(talks), two(talks)), true, []int{1, 1, 1, 1, 1}},
		{"the larger, who moves them less, too", play(100, nil, person{track: 0, size: 60, to: 100, mouth: talks}, two(mumbles)), true, []int{1, 1, 1, 1, 1}},
		{"however little larger", play(100, nil, one(talks), person{track: 1, size: 105, to: 100, mouth: mumbles}), true, []int{1, 1, 1, 1, 1}},
		{"of two alike, whose sizes err, the usually larger", play(100, nil, person{track: 0, size: 101, errs: .05, to: 100, mouth: talks},
			person{track: 1, size: 100, errs: .05, to: 100, mouth: talks}), true, []int{0, 0, 0, 0, 0}},
		{"the largest of those who move them", play(100, nil, person{track: 0, size: 60, to: 100, mouth: talks}, person{track: 2, size: 100, to: 100, mouth: mumbles}, two(trembles)), true, []int{2, 2, 2, 2, 2}},
		{"the larger while they move them", play(100, nil, one(talks), two(from(0, 40, mumbles))), true, []int{1, 1, 0, 0, 0}},
		{"who comes when the speaker has left", play(100, nil, person{track: 0, size: 100, to: 40, mouth: talks},
			person{track: 1, size: 100, from: 60, to: 100, mouth: talks}), true, []int{0, 0, -1, 1, 1}},
		{"who speaks for the whole shot rather than who passes by", play(100, nil, one(speaks),
			person{track: 1, size: 300, from: 40, to: 52, mouth: speaks}), false, []int{0, 0, 0, 0, 0}},
	} {
		heard := sound
		if c.mute {
			heard = nil
		}
		active := c.scene.Active(heard)
		var got []int
		for _, frame := range []int{0, 25, 50, 75, 99} {
			got = append(got, active(frame))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// TestFaintVoice checks that a network can tell who speaks where the voice is too
// faint to count, but not from a few frames of it.
func TestFaintVoice(t *testing.T) {
	for _, c := range []struct{ frames, want int }{{10, 0}, {40, 1}} { // for which the network says that 1 speaks
		two := play(100, nil, person{track: 0, size: 100, to: 100, mouth: rests}, person{track: 1, size: 100, to: 100, mouth: rests})
		two.network = &Network{}
		score := func(first, then float32) *scores {
			return &scores{0, slices.Concat(slices.Repeat([]float32{first}, 50), slices.Repeat([]float32{then}, c.frames))}
		}
		two.scores = map[int32]*scores{0: score(speaking, mute), 1: score(mute, speaking)}
		active := two.Active(tone(t, 50))
		if got := []int{active(25), active(70)}; got[0] != 0 || got[1] != c.want {
			t.Errorf("%d frames: got %v, want [0 %d]", c.frames, got, c.want)
		}
	}
}

func TestShortSound(t *testing.T) {
	c := play(100, nil, person{track: 0, size: 100, to: 100, mouth: speaks}, person{track: 1, size: 120, to: 100, mouth: rests})
	for _, seconds := range []int{0, 1} {
		if got := c.Active(tone(t, seconds*fps))(50); got != 0 {
			t.Errorf("%d s of sound: got %d, want 0", seconds, got)
		}
	}
}

func TestLargest(t *testing.T) {
	c := play(30, nil,
		person{track: 0, size: 100, from: 2, to: 30, mouth: speaks, gone: []int{25, 26}},
		person{track: 1, size: 140, from: 10, to: 20, mouth: rests})
	largest := c.Largest()
	for frame, want := range map[int]int{0: -1, 2: 0, 9: 0, 10: 1, 19: 1, 20: 0, 25: -1, 26: -1, 29: 0} {
		if got := largest(frame); got != want {
			t.Errorf("frame %d: got %d, want %d", frame, got, want)
		}
	}
	if got, want := c.Faces(), 26; got != want {
		t.Errorf("%d frames with a face, want %d", got, want)
	}
	if got := New(fps, nil).Faces(); got != 0 {
		t.Errorf("no frames: %d with a face", got)
	}
}

// tone returns the sound of the tests for some frames.
func tone(t *testing.T, frames int) *speech.Speech {
	t.Helper()
	var b []byte
	for i := range frames * speech.SampleRate / fps {
		v := 0.
		if loud(i * fps / speech.SampleRate) {
			v = 8000 * math.Sin(2*math.Pi*500*float64(i)/speech.SampleRate)
		}
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(v)))
	}
	s, err := speech.Read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
