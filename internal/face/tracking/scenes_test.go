package tracking

import (
	"fmt"
	"image"
	"math"
	"slices"
	"testing"

	"lipsync/internal/face/detection"
	"lipsync/internal/signal/geom"
	"lipsync/internal/test/sharedtest"
)

// person is a head for scenes: a clip of a person, and the filters of ffmpeg that make a head of 220 × 260 pixels of it.
type person struct{ clip, head string }

var (
	woman = person{"woman.mp4", "crop=340:402:207:53,scale=220:260"}
	man   = person{"talking_man.mp4", "crop=220:260:145:20"}
	twin  = person{"two_people.mp4", "crop=148:175:104:12,scale=220:260"} // the man again
	other = person{"two_people.mp4", "crop=180:213:435:54,scale=220:260"}
)

const (
	headWidth, headHeight   = 220, 260
	headMiddle, headCentre  = 110, 126 // of its face, about
	headSize                = 138      // Box.Size, about
	sceneWidth, sceneHeight = 640, 360
)

// figure is a head that moves across a scene.
type figure struct {
	person
	x, y     float64 // place of the face in the first frame, pixels
	dx, dy   float64 // how far it goes in each frame
	scale    float64
	filter   string // of ffmpeg, on the head; may be empty
	from, to int    // frames in which it is seen; 0, 0 is all
}

func (a figure) at(frame int) geom.Point {
	return geom.Point{X: float32(a.x + a.dx*float64(frame)), Y: float32(a.y + a.dy*float64(frame))}
}

func (a figure) last() int {
	if a.to == 0 {
		return math.MaxInt32
	}
	return a.to - 1
}

// compose returns the frames of a scene with figures. Those named later are in front of the earlier ones.
func compose(t testing.TB, frames int, figures ...figure) []*image.YCbCr {
	t.Helper()
	var args []string
	graph := fmt.Sprintf("color=gray:s=%dx%d:r=25[0]", sceneWidth, sceneHeight)
	for i, a := range figures {
		args = append(args, "-i", sharedtest.Path(t, "media", a.clip))
		filter := fmt.Sprintf("setpts=N/25/TB,fps=25,%s,scale=iw*%g:-2", a.head, a.scale)
		if a.filter != "" {
			filter += "," + a.filter
		}
		graph += fmt.Sprintf(";[%d:v]%s[h%d];[%d][h%d]overlay=x='%g+%g*n':y='%g+%g*n':enable='between(n,%d,%d)'[%d]",
			i, filter, i, i, i, a.x-headMiddle*a.scale, a.dx, a.y-headCentre*a.scale, a.dy, a.from, a.last(), i+1)
	}
	graph += fmt.Sprintf(";[%d]null", len(figures))
	return sharedtest.Frames(t, sceneWidth, sceneHeight, append(args, "-filter_complex", graph, "-frames:v", fmt.Sprint(frames))...)
}

// found is the expected result of a tracker for each figure.
type found struct {
	least  []float64 // share of the frames in which the figure is seen with nobody near, at least
	tracks []int     // number of tracks, at most
}

// TestPeople checks how well the people of clips are tracked in scenes.
func TestPeople(t *testing.T) { testPeople(t, false) }

// TestPeople_long does so in scenes that are much like others.
func TestPeople_long(t *testing.T) { testPeople(t, true) }

func testPeople(t *testing.T, long bool) {
	for _, c := range []struct {
		name    string
		like    string // the scene of TestPeople that this one of TestPeople_long is much like
		frames  int
		figures []figure
		want    found
	}{
		{name: "three who stay", frames: 60, figures: []figure{
			{person: woman, x: 130, y: 180, scale: 1},
			{person: man, x: 330, y: 180, scale: 1},
			{person: other, x: 520, y: 180, scale: 1},
		}, want: found{least: []float64{1, 1, 1}, tracks: []int{1, 1, 1}}},
		{name: "a man passes behind a woman", frames: 110, figures: []figure{
			{person: man, x: 100, y: 180, dx: 4, scale: 1},
			{person: woman, x: 540, y: 180, dx: -4, scale: 1},
		}, want: found{least: []float64{.9, .95}, tracks: []int{2, 1}}},
		{name: "a woman passes behind a man", like: "a man passes behind a woman", frames: 110, figures: []figure{
			{person: woman, x: 100, y: 180, dx: 4, scale: 1},
			{person: man, x: 540, y: 180, dx: -4, scale: 1},
		}, want: found{least: []float64{.9, .95}, tracks: []int{2, 1}}},
		{name: "a man passes before another", like: "slowly, and the other before him", frames: 110, figures: []figure{
			{person: other, x: 100, y: 180, dx: 4, scale: 1},
			{person: man, x: 540, y: 180, dx: -4, scale: 1},
		}, want: found{least: []float64{.9, .95}, tracks: []int{2, 1}}},
		{name: "slowly, and the other before him", frames: 120, figures: []figure{
			{person: man, x: 220, y: 180, dx: 2, scale: 1},
			{person: other, x: 420, y: 190, dx: -2, scale: 1.1},
		}, want: found{least: []float64{.85, .95}, tracks: []int{2, 1}}},
		{name: "a twin rushes past", frames: 60, figures: []figure{
			{person: man, x: 200, y: 180, scale: 1},
			{person: twin, x: 700, y: 180, dx: -25, scale: 1},
		}, want: found{least: []float64{.9, 0}, tracks: []int{2, 2}}},
		{name: "one steps before another", frames: 100, figures: []figure{
			{person: other, x: 320, y: 180, scale: .8},
			{person: man, x: 720, y: 180, dx: -5, scale: .9},
		}, want: found{least: []float64{.85, .85}, tracks: []int{2, 1}}},
		{name: "one darts before another", frames: 80, figures: []figure{
			{person: other, x: 320, y: 180, scale: .9},
			{person: man, x: 800, y: 180, dx: -16, scale: 1},
		}, want: found{least: []float64{.85, 0}, tracks: []int{2, 1}}},
		{name: "one darts before another, who is larger", like: "one darts before another", frames: 80, figures: []figure{
			{person: man, x: 320, y: 180, scale: 1},
			{person: other, x: 800, y: 180, dx: -16, scale: .9},
		}, want: found{least: []float64{.85, 0}, tracks: []int{2, 1}}},
		{name: "another in the same place, too small for a cut", frames: 80, figures: []figure{
			{person: other, x: 320, y: 180, scale: .5, to: 41},
			{person: man, x: 320, y: 180, scale: .5, from: 41},
		}, want: found{least: []float64{.85, .85}, tracks: []int{1, 1}}},
		{name: "in and out again", frames: 120, figures: []figure{{person: woman, x: -150, y: 180, dx: 8, scale: 1}}, want: found{least: []float64{.8}, tracks: []int{1}}},
		{name: "small", frames: 60, figures: []figure{{person: man, x: 320, y: 180, dx: 1, scale: .35}}, want: found{least: []float64{1}, tracks: []int{1}}},
		{name: "a hand before the mouth", frames: 80, figures: []figure{{person: man, x: 320, y: 180, scale: 1,
			filter: "drawbox=x=60:y=160:w=110:h=60:color=0xc09070:t=fill:enable='between(n,30,50)'"}}, want: found{least: []float64{1}, tracks: []int{1}}},
		{name: "tilts", frames: 100, figures: []figure{{person: woman, x: 320, y: 180, scale: 1,
			filter: "rotate=a='.3*sin(n/12)':c=gray"}}, want: found{least: []float64{.95}, tracks: []int{1}}},
		{name: "lies on one side", frames: 100, figures: []figure{{person: woman, x: 320, y: 180, scale: 1,
			filter: "rotate=a='.8*sin(n/16)':c=gray"}}, want: found{least: []float64{.95}, tracks: []int{1}}},
	} {
		if long != (c.like != "") {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			frames := compose(t, c.frames, c.figures...)
			eachDetector(t, func(t *testing.T, d detection.Detector) {
				tally := follow(t, NewTracker(d, 25), frames, c.figures)
				for i, a := range c.figures {
					if share := float64(tally.found[i]) / float64(tally.alone[i]); share < c.want.least[i] {
						t.Errorf("%s is found in %.2f of the frames, want %.2f", a.clip, share, c.want.least[i])
					}
					if n := len(tally.tracks[i]); n > c.want.tracks[i] {
						t.Errorf("%s has the tracks %v, want %d", a.clip, tally.tracks[i], c.want.tracks[i])
					}
				}
			})
		})
	}
}

// tally is the result of a tracker for each figure.
type tally struct {
	alone  []int // frames in which it is seen with nobody near
	found  []int // frames of these in which it is found
	tracks [][]int
}

// follow runs a tracker. The test fails if a track goes over from one figure to another, or has the same face as another.
func follow(t *testing.T, tracker *Tracker, frames []*image.YCbCr, figures []figure) tally {
	n := len(figures)
	y := tally{alone: make([]int, n), found: make([]int, n), tracks: make([][]int, n)}
	of := map[int]int{} // figure, of a track
	for i, frame := range frames {
		faces, _, err := add(t.Context(), tracker, frame)
		if err != nil {
			t.Fatal(err)
		}
		for k, f := range faces {
			if slices.ContainsFunc(faces[:k], func(g Face) bool { return g.Box.Same(f.Box) }) {
				t.Errorf("frame %d: track %d is where another is", i, f.Track)
			}
		}
		for k, a := range figures {
			if !alone(figures, k, i) {
				continue
			}
			y.alone[k]++
			for _, f := range faces {
				if geom.Distance(f.Box.Centre(), a.at(i)) > .5*headSize*float32(a.scale) {
					continue
				}
				y.found[k]++
				if was, ok := of[f.Track]; ok && was != k {
					t.Errorf("frame %d: track %d of %s is on %s", i, f.Track, figures[was].clip, a.clip)
				}
				of[f.Track] = k
				if !slices.Contains(y.tracks[k], f.Track) {
					y.tracks[k] = append(y.tracks[k], f.Track)
				}
			}
		}
	}
	return y
}

// alone tells whether figure k is seen in a frame with nobody near.
func alone(figures []figure, k, frame int) bool {
	p, me := figures[k].at(frame), figures[k]
	for i, a := range figures {
		if i != k && frame >= a.from && frame <= a.last() && geom.Distance(p, a.at(frame)) < headWidth*.9*float32(a.scale+figures[k].scale)/2 {
			return false
		}
	}
	return frame >= me.from && frame <= me.last() && p.X > headSize/2 && p.X < sceneWidth-headSize/2
}
