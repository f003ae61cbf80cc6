package render

import (
	"context"
	"image"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/face/alignment"
	"lipsync/internal/face/occlusion"
	"lipsync/internal/face/tracking"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/footage"
	"lipsync/internal/render/people"
	"lipsync/internal/signal/geom"
	"lipsync/internal/sound/speech"
	"lipsync/internal/test/check"
	"lipsync/internal/test/ffmpegtest"
)

// lostFunc is a tracker that returns why there is no face in a frame, and whether there is one.
type lostFunc func(frame int) (tracking.Lost, bool)

func (f lostFunc) Add(_ context.Context, frame *image.YCbCr) (*tracking.Seen, error) {
	n := ffmpegtest.Number(frame, 0)
	lost, there := f(n)
	s := &tracking.Seen{Cut: n == 0, Lost: lost}
	if there {
		face := someone(min(n/30, 1)+n/75, 60) // who comes back is a new track
		face.Crop = wholeOf(frame)
		s.Faces = append(s.Faces, face)
	}
	return s, nil
}

// TestUnsynced checks which parts of outputs are told to be not synced and why, and that no mouth is synced for a moment only.
func TestUnsynced(t *testing.T) {
	t.Parallel()
	comes := lostFunc(func(frame int) (tracking.Lost, bool) {
		switch {
		case frame < 10:
			return tracking.TooSmall, false
		case frame < 30:
			return tracking.Unseen, true
		case frame < 50:
			return tracking.TurnedAway, false
		case frame < 55: // a moment
			return tracking.Unseen, true
		}
		return tracking.Outside, frame >= 75
	})
	for _, c := range []struct {
		name   string
		new    func(float64) people.Tracker
		face   order.Face
		large  bool // whether the largest face is synced
		frames int
		synced int
		want   []order.Gap
	}{
		{"one who comes and goes", func(float64) people.Tracker { return comes }, order.Face{}, true, 90, 35,
			[]order.Gap{{Start: 0, End: .4, Reason: order.FaceTooSmall}, {Start: 1.2, End: 2, Reason: order.TurnedAway}, {Start: 2, End: 3, Reason: order.OutOfPicture}}},
		{"the same, whose track is not that of the speaker for a moment", func(float64) people.Tracker { return comes }, order.Face{}, false, 90, 35,
			[]order.Gap{{Start: 0, End: .4, Reason: order.FaceTooSmall}, {Start: 1.2, End: 2.2, Reason: order.TurnedAway}, {Start: 2.2, End: 3, Reason: order.OutOfPicture}}},
		{"the other one", couple, order.Face{By: order.FaceAt, Frame: 12, X: 110, Y: 30}, false, 30, 20, []order.Gap{{Start: 0, End: .4, Reason: order.OtherPerson}}},
		{"all synced", couple, order.Face{By: order.FaceAt, Frame: 12, X: 50, Y: 60}, false, 30, 30, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := inMemory(t, &numberer{})
			r.NewTracker = c.new
			dir := t.TempDir()
			made, err := r.Render(t.Context(), Job{Video: numbered(t, "25", c.frames), Audio: tone(t, "3.6"), Output: dir + "/o.mp4", Scratch: dir, LargestFace: c.large,
				Options: order.Options{Face: c.face, SyncMode: order.CutOff}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := made.Unsynced; !slices.Equal(got.Gaps, c.want) || got.LeftOut > 0 || made.Frames.Synced != c.synced {
				t.Errorf("got %v and %d synced frames, want %v and %d", got, made.Frames.Synced, c.want, c.synced)
			}
		})
	}
}

// TestFindIslands checks which output frames are synced for a moment only. A shot begins at a cut anywhere between two frames that are shown.
func TestFindIslands(t *testing.T) {
	for _, c := range []struct {
		name, faces string // one character for each source frame: # for a face, o for one whose mouth is outside of the picture
		cuts        []int
		mode        order.SyncMode
		frames      int
		want        string // the same for output frames, # for an island
	}{
		{"between gaps", "..###..", []int{0}, order.CutOff, 7, "..###.."},
		{"between mouths outside", "##o###o##", []int{0}, order.CutOff, 9, "...###..."},
		{"with a cut", "..###..", []int{0, 3}, order.CutOff, 7, "......."},
		{"with a cut that is skipped", "..######..", []int{0, 6}, order.Remap, 5, "....."},
		{"after a gap that begins a shot", "##.##..", []int{0, 2}, order.CutOff, 7, "...##.."},
		{"after a gap at the begin", ".##.", []int{0}, order.CutOff, 4, ".##."},
		{"before the video starts again", ".##", []int{0}, order.Loop, 6, "......"},
		{"where the video turns back", ".##", []int{0}, order.Bounce, 5, ".###."},
		{"on the way back after a cut", ".##.#.", []int{0, 4}, order.Bounce, 11, ".##.....##."},
	} {
		p := plan{input: input{video: &medium.Info{Video: &medium.Video{Width: 2, Height: 2, Rate: medium.Rate{Num: 25, Den: 1}}}}, speaker: func(int) int { return 0 }}
		p.seen.Faces = people.NewFaces(check.Scratch(t))
		for _, face := range c.faces {
			switch face {
			case '#':
				check.Must(t, p.seen.Faces.Add(alignment.Frame{Faces: make([]alignment.Face, 1)}))
			case 'o':
				check.Must(t, p.seen.Faces.Add(alignment.Frame{Faces: []alignment.Face{{To: geom.Similarity{X: 2}}}}))
			default:
				check.Must(t, p.seen.Faces.Add(alignment.Frame{}))
			}
		}
		p.seen.hidden = occlusion.New()
		p.seen.cuts, p.line = c.cuts, footage.NewTimeline(c.mode, len(c.faces), c.frames, c.cuts)
		got := ""
		for _, island := range p.findIslands() {
			got += map[bool]string{true: "#", false: "."}[island]
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// TestIslands checks runs of frames in which parts of a mouth are seen: ~ for little of it, # for most.
func TestIslands(t *testing.T) {
	for _, c := range []struct{ sights, want string }{
		{"..~~##~~..", "..######.."}, // a hand that lets go for a moment
		{"..~~###~~..", "..........."},
		{"..~~~~~..", "..~~~~~.."},
		{"..##~##..", "........."},
		{"..#~~|##..", ".........."},
		{"..##_##..", "........."},
		{"~##~..", "......"},
	} {
		var sights []sight
		cuts := map[int]bool{0: true}
		for _, r := range c.sights {
			if r == '|' {
				cuts[len(sights)] = true
				continue
			}
			sights = append(sights, map[rune]sight{'_': unasked, '.': nothing, '~': little, '#': most}[r])
		}
		for o, island := range islands(len(sights), 3, func(o int) bool { return cuts[o] }, func(o int) sight { return sights[o] }) {
			if want := c.want[o] != '.'; island != want {
				t.Errorf("%s: frame %d: got %t", c.sights, o, island)
			}
		}
	}
}

// TestUnsyncedSegments checks the gaps of an output with segments: only parts of these are gaps.
func TestUnsyncedSegments(t *testing.T) {
	t.Parallel()
	r := newRenderer(t, &numberer{})
	r.NewTracker = func(float64) people.Tracker {
		return lostFunc(func(frame int) (tracking.Lost, bool) { return tracking.TooSmall, frame >= 10 && frame < 30 })
	}
	video := ffmpegtest.Make(t, "in.mkv", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 50))
	_, made, err := renderSegments(t, r, order.Options{}, video, order.Segments{{Ref: "a", Start: ms(200), End: ms(1000)}, {Ref: "a", Start: ms(1600), End: ms(1800)}}, sound(t, "a.wav", "1"))
	want := []order.Gap{{Start: .2, End: .4, Reason: order.FaceTooSmall}, {Start: 1.6, End: 1.8, Reason: order.FaceTooSmall}}
	if err != nil || !slices.Equal(made.Unsynced.Gaps, want) {
		t.Errorf("got %v (%v), want %v", made.Unsynced.Gaps, err, want)
	}
}

// TestUnsyncedModes checks the gaps of one who comes and goes in outputs that show the video otherwise than once from its begin. An output that was
// made in two attempts has those of one attempt.
func TestUnsyncedModes(t *testing.T) {
	t.Parallel()
	comes := lostFunc(func(frame int) (tracking.Lost, bool) {
		if frame < 10 {
			return tracking.TooSmall, false
		}
		return tracking.TurnedAway, frame < 20
	})
	small, turned := order.FaceTooSmall, order.TurnedAway
	gap := func(start, end float64, reason order.Cause) order.Gap {
		return order.Gap{Start: start, End: end, Reason: reason}
	}
	for _, c := range []struct {
		name    string
		mode    order.SyncMode
		preview order.Preview
		synced  int
		want    []order.Gap
	}{
		{"loop, whose gaps are joined", order.Loop, order.Preview{}, 20, []order.Gap{gap(0, .4, small), gap(.8, 2.4, turned)}},
		{"bounce", order.Bounce, order.Preview{}, 20, []order.Gap{gap(0, .4, small), gap(.8, 1.72, turned), gap(2.12, 2.4, small)}},
		{"pad", order.Pad, order.Preview{}, 10, []order.Gap{gap(0, .4, small), gap(.8, 2.4, turned)}},
		{"preview", order.Bounce, order.Preview{Start: ms(200), Length: ms(800)}, 10, []order.Gap{gap(0, .2, small), gap(.6, .8, turned)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &shelf{pieces: map[int][]byte{}}
			j := Job{Video: numbered(t, "25", 32), Audio: tone(t, "2.4"), Scratch: t.TempDir(), LargestFace: true, Options: order.Options{SyncMode: c.mode, Preview: c.preview},
				PieceTime: time.Nanosecond, Pieces: s}
			for _, attempt := range []string{"first", "second"} {
				r, looks := inMemory(t, &numberer{}), 0
				r.NewTracker = func(float64) people.Tracker { return comes }
				r.Now = func() time.Time { // the recorder looks when a piece begins, and before it ends
					if looks++; looks == 3 && attempt == "first" {
						s.await(t.Context(), 1)
					}
					return time.Now()
				}
				j.Output = filepath.Join(j.Scratch, attempt+".mp4")
				made, err := r.Render(t.Context(), j, nil)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(made.Unsynced.Gaps, c.want) || made.Frames.Synced != c.synced {
					t.Errorf("%s attempt, from frame %d: got %v and %d synced frames, want %v and %d", attempt, made.Reused.Frames, made.Unsynced.Gaps, made.Frames.Synced, c.want, c.synced)
				}
				maps.DeleteFunc(s.pieces, func(i int, _ []byte) bool { return i > 1 })
				if attempt == "second" && made.Reused.Frames == 0 {
					t.Error("the second attempt used no piece")
				}
			}
		})
	}
}

// TestDue checks in which frames a mouth should be painted: in x a face is seen, in - none, and a bar is a cut. Then, whether one is due.
func TestDue(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"xxxx", "1111"}, {"-xx-", "0110"}, {"x--x", "1111"}, {"x-|-x", "1001"}, {"--|--", "0000"}, {"|x-x|---|-x", "11100001"},
	} {
		var p plan
		p.seen.Faces = people.NewFaces(check.Scratch(t))
		for _, k := range c.source {
			switch k {
			case '|':
				p.seen.cuts = append(p.seen.cuts, p.seen.Frames())
			case 'x':
				check.Must(t, p.seen.Faces.Add(alignment.Frame{Faces: make([]alignment.Face, 1)}))
			default:
				check.Must(t, p.seen.Faces.Add(alignment.Frame{}))
			}
		}
		p.line = footage.NewTimeline(order.Loop, p.seen.Frames(), p.seen.Frames(), nil)
		p.spoken = make([]speech.Articulation, p.line.Frames)
		got := ""
		for _, due := range p.due() {
			got += map[bool]string{true: "1", false: "0"}[due]
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.source, got, c.want)
		}
		p.spoken[0], p.shares = speech.Rest, slices.Repeat([]uint8{255}, p.line.Frames)
		p.shares[1] = 254
		if due := p.due(); due[0] || due[1] {
			t.Errorf("%s: a mouth is due in silence, or in a fade", c.source)
		}
	}
}
