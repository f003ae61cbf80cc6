package speaker

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"lipsync/internal/sound/speech"
	"lipsync/internal/test/check"
)

const fps = 25

// person is a face in a drawn video.
type person struct {
	track    int32
	size     float32
	errs     float32                 // share of size by which its readings err, at most
	from, to int                     // first frame, and the one after the last
	gone     []int                   // frames in which the tracker missed it
	mouth    func(frame int) float32 // motion of the mouth
}

// play returns an analyser that has seen a number of frames with people in them. Shots start at frame 0
// and at the cuts.
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

// loud tells whether the sound of the tests is loud in a frame: in the first half of each second.
func loud(frame int) bool { return frame/12%2 == 0 }

// The motion of mouths in a frame: rests has none, and trembles is lips at rest whose landmarks err.
func rests(int) float32 { return 0 }

func trembles(frame int) float32 { return .035 + .02*float32(math.Sin(float64(frame)*1.3)) }

// speaks is lips that move while the sound is loud.
func speaks(frame int) float32 {
	if !loud(frame) {
		return trembles(frame)
	}
	return .2 + .1*float32(math.Sin(float64(frame)*1.3))
}

// from is lips that move from a frame on, up to another, and rest else.
func from(first, end int, moves func(int) float32) func(int) float32 {
	return func(frame int) float32 {
		if frame < first || frame >= end {
			return trembles(frame)
		}
		return moves(frame)
	}
}

// talks is lips that move without a pause.
func talks(int) float32 { return .2 }

// mumbles is lips that move less, without a pause.
func mumbles(int) float32 { return .1 }

// halts is talks with a pause of a third of a second.
func halts(frame int) float32 { return .2 - from(46, 54, talks)(frame) }

// chews is lips that move while the sound is not loud.
func chews(frame int) float32 { return speaks(frame + 12) }

// TestActive finds the speakers in drawn videos of 4 s. Unless a case says otherwise, track 0 has a small
// face and track 1 a large one.
func TestActive(t *testing.T) {
	sound := tone(t, 200)
	small := func(mouth func(int) float32) person { return person{track: 0, size: 100, to: 100, mouth: mouth} }
	large := func(mouth func(int) float32) person { return person{track: 1, size: 140, to: 100, mouth: mouth} }
	for _, c := range []struct {
		name    string
		video   *Analyser
		noSound bool  // of the video's own
		want    []int // speakers of frames 0, 25, 50, 75 and 99
	}{
		{name: "no face", want: []int{-1, -1, -1, -1, -1},
			video: play(100, nil)},
		{name: "one person at rest", want: []int{0, 0, 0, 0, 0},
			video: play(100, nil, small(rests))},
		{name: "one person at rest, no sound", noSound: true, want: []int{0, 0, 0, 0, 0},
			video: play(100, nil, small(rests))},
		{name: "the one whose lips move, though the other is larger", want: []int{0, 0, 0, 0, 0},
			video: play(100, nil, small(speaks), large(rests))},
		{name: "the one whose lips move, though the other is larger, no sound", noSound: true, want: []int{0, 0, 0, 0, 0},
			video: play(100, nil, small(speaks), large(rests))},
		{name: "the small one moves the lips with the sound, the large one in its pauses", want: []int{0, 0, 0, 0, 0},
			video: play(100, nil, small(speaks), large(chews))},
		{name: "the large one moves the lips with the sound, the small one in its pauses", want: []int{1, 1, 1, 1, 1},
			video: play(100, nil, small(chews), large(speaks))},
		{name: "the largest of people at rest", want: []int{1, 1, 1, 1, 1},
			video: play(100, nil, small(rests), large(rests))},
		{name: "lips at rest whose landmarks err", want: []int{1, 1, 1, 1, 1},
			video: play(100, nil, small(trembles), large(rests))},
		{name: "the larger of people at rest, by 2 %", want: []int{1, 1, 1, 1, 1},
			video: play(100, nil, small(rests), person{track: 1, size: 102, to: 100, mouth: rests})},
		{name: "the next speaker takes over in the pause, though the last one is larger by 2 %", want: []int{0, 0, 1, 1, 1},
			video: play(100, nil, person{track: 0, size: 102, to: 100, mouth: from(0, 40, speaks)}, person{track: 1, size: 100, to: 100, mouth: from(73, 100, speaks)})},
		{name: "the largest of people at rest, no sound", noSound: true, want: []int{1, 1, 1, 1, 1},
			video: play(100, nil, small(rests), large(rests))},
		{name: "another speaker in the next shot", want: []int{0, 0, 3, 3, 3},
			video: play(100, []int{50}, person{track: 0, size: 100, to: 50, mouth: speaks}, person{track: 1, size: 100, to: 50, mouth: rests}, person{track: 2, size: 100, from: 50, to: 100, mouth: rests}, person{track: 3, size: 100, from: 50, to: 100, mouth: speaks})},
		{name: "a shot without a face between two others", want: []int{0, 0, -1, 1, 1},
			video: play(100, []int{40, 60}, person{track: 0, size: 100, to: 40, mouth: speaks}, person{track: 1, size: 100, from: 60, to: 100, mouth: speaks})},
		{name: "the speaker leaves", want: []int{0, 0, 0, -1, -1},
			video: play(100, nil, person{track: 0, size: 100, to: 60, mouth: speaks})},
		{name: "the face is missed for some frames", want: []int{0, -1, 0, 0, 0},
			video: play(100, nil, person{track: 0, size: 100, to: 100, mouth: speaks, gone: []int{24, 25, 26, 27, 28}})},
		{name: "the face is missed around a cut", want: []int{0, -1, 0, 0, 0},
			video: play(100, []int{25}, person{track: 0, size: 100, to: 100, mouth: speaks, gone: []int{24, 25}})},
		{name: "two turns", want: []int{0, 0, 1, 1, 1},
			video: play(100, nil, small(from(0, 48, speaks)), large(from(48, 100, speaks)))},
		{name: "two turns, no sound", noSound: true, want: []int{0, 0, 1, 1, 1},
			video: play(100, nil, small(from(0, 40, talks)), large(from(40, 100, talks)))},
		{name: "three turns, no sound", noSound: true, want: []int{0, 0, 1, 2, 2},
			video: play(100, nil, small(from(0, 36, talks)), large(from(36, 64, talks)), person{track: 2, size: 100, to: 100, mouth: from(64, 100, talks)})},
		{name: "a third of a second makes no turn", noSound: true, want: []int{0, 0, 0, 0, 0},
			video: play(100, nil, small(halts), large(from(46, 54, talks)))},
		{name: "no one speaks after a turn", noSound: true, want: []int{0, 0, 0, 0, 0},
			video: play(100, nil, small(from(0, 20, talks)), large(rests))},
		{name: "no one speaks before a turn", noSound: true, want: []int{0, 0, 0, 0, 0},
			video: play(100, nil, small(from(80, 100, talks)), large(rests))},
		{name: "the larger of two whose lips move, no sound", noSound: true, want: []int{1, 1, 1, 1, 1},
			video: play(100, nil, small(talks), large(talks))},
		{name: "the larger of two whose lips move, though they move less, no sound", noSound: true, want: []int{1, 1, 1, 1, 1},
			video: play(100, nil, person{track: 0, size: 60, to: 100, mouth: talks}, large(mumbles))},
		{name: "the larger of two whose lips move, by 5 %, no sound", noSound: true, want: []int{1, 1, 1, 1, 1},
			video: play(100, nil, small(talks), person{track: 1, size: 105, to: 100, mouth: mumbles})},
		{name: "the one that is larger in the median, of two whose sizes err, no sound", noSound: true, want: []int{0, 0, 0, 0, 0},
			video: play(100, nil, person{track: 0, size: 101, errs: .05, to: 100, mouth: talks}, person{track: 1, size: 100, errs: .05, to: 100, mouth: talks})},
		{name: "the largest of those whose lips move, no sound", noSound: true, want: []int{2, 2, 2, 2, 2},
			video: play(100, nil, person{track: 0, size: 60, to: 100, mouth: talks}, person{track: 2, size: 100, to: 100, mouth: mumbles}, large(trembles))},
		{name: "the larger while the lips of both move, no sound", noSound: true, want: []int{1, 1, 0, 0, 0},
			video: play(100, nil, small(talks), large(from(0, 40, mumbles)))},
		{name: "one comes when the other has left, no sound", noSound: true, want: []int{0, 0, -1, 1, 1},
			video: play(100, nil, person{track: 0, size: 100, to: 40, mouth: talks}, person{track: 1, size: 100, from: 60, to: 100, mouth: talks})},
		{name: "one speaks for the whole shot, another passes by", want: []int{0, 0, 0, 0, 0},
			video: play(100, nil, small(speaks), person{track: 1, size: 300, from: 40, to: 52, mouth: speaks})},
	} {
		heard := sound
		if c.noSound {
			heard = nil
		}
		active := c.video.Active(heard)
		var got []int
		for _, frame := range []int{0, 25, 50, 75, 99} {
			got = append(got, active(frame))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// TestFaintVoice checks that the network can tell who speaks where the voice is too faint to be heard,
// but not by a few frames.
func TestFaintVoice(t *testing.T) {
	for _, c := range []struct {
		frames int // for which the network says that track 1 speaks
		want   int // speaker of these frames
	}{{frames: 10, want: 0}, {frames: 40, want: 1}} {
		two := play(100, nil, person{track: 0, size: 100, to: 100, mouth: rests}, person{track: 1, size: 100, to: 100, mouth: rests})
		two.network = &Network{}
		score := func(first, then float32) *scores {
			return &scores{0, slices.Concat(slices.Repeat([]float32{first}, 50), slices.Repeat([]float32{then}, c.frames))}
		}
		two.scores = map[int32]*scores{0: score(speakingScore, muteScore), 1: score(muteScore, speakingScore)}
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

// tone returns the sound of the tests, as long as a number of frames.
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
	s, err := speech.Read(bytes.NewReader(b), check.Scratch(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAlone compares the speakers of a shot with one person, who isn't seen in some frames, with those that turns finds.
func TestAlone(t *testing.T) {
	s := newShot(25, 200, func(k int) []observation {
		if k < 20 || k >= 60 && k < 62 || k >= 90 && k < 150 || k >= 190 {
			return nil
		}
		return []observation{{track: 7, size: 40, motion: float32(k % 3)}}
	})
	s.weigh(newVoice(nil, 25, 0, 200), nil)
	if got, want := s.tracks[0].alone(200), s.turns(); !slices.Equal(got, want) || got[20] != 7 || got[100] != -1 {
		t.Errorf("got %v, want %v", got, want)
	}
}
