package tracking

import (
	"fmt"
	"image"
	"math"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/detection"
	"lipsync/internal/geom"
	"lipsync/internal/sharedtest"
)

// person is someone filmed, whose head scenes are made of: a clip, and ffmpeg's
// filters to a head of 220 × 260 pixels.
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
	stageWidth, stageHeight = 640, 360
)

// actor is a person who crosses a stage: where the head's face is in the first
// frame, and how far it goes in each.
type actor struct {
	person
	x, y, dx, dy float64
	scale        float64
	filter       string // of ffmpeg, on the head; may be empty
	from, to     int    // frames on the stage; 0, 0 is all
}

func (a actor) at(frame int) geom.Point {
	return geom.Point{X: float32(a.x + a.dx*float64(frame)), Y: float32(a.y + a.dy*float64(frame))}
}

func (a actor) last() int {
	if a.to == 0 {
		return math.MaxInt32
	}
	return a.to - 1
}

// stage films actors, those named later in front of the earlier ones.
func stage(t testing.TB, frames int, actors ...actor) []*image.YCbCr {
	t.Helper()
	var args []string
	graph := fmt.Sprintf("color=gray:s=%dx%d:r=25[0]", stageWidth, stageHeight)
	for i, a := range actors {
		args = append(args, "-i", sharedtest.Path(t, "media", a.clip))
		filter := fmt.Sprintf("setpts=N/25/TB,fps=25,%s,scale=iw*%g:-2", a.head, a.scale)
		if a.filter != "" {
			filter += "," + a.filter
		}
		graph += fmt.Sprintf(";[%d:v]%s[h%d];[%d][h%d]overlay=x='%g+%g*n':y='%g+%g*n':enable='between(n,%d,%d)'[%d]",
			i, filter, i, i, i, a.x-headMiddle*a.scale, a.dx, a.y-headCentre*a.scale, a.dy, a.from, a.last(), i+1)
	}
	graph += fmt.Sprintf(";[%d]null", len(actors))
	return sharedtest.Frames(t, stageWidth, stageHeight, append(args, "-filter_complex", graph, "-frames:v", fmt.Sprint(frames))...)
}

// found is what a tracker is to find of each actor: the least share of the
// frames in which they are on the stage with nobody near, and the most tracks.
type found struct {
	least  []float64
	tracks []int
}

// TestPeople checks who is followed in scenes of people who were filmed.
func TestPeople(t *testing.T) {
	for _, c := range []struct {
		name   string
		frames int
		actors []actor
		want   found
		weakly found // by the cascades, where they see less
	}{
		{"three who stay", 60, []actor{
			{person: woman, x: 130, y: 180, scale: 1},
			{person: man, x: 330, y: 180, scale: 1},
			{person: other, x: 520, y: 180, scale: 1},
		}, found{[]float64{1, 1, 1}, []int{1, 1, 1}}, found{}},
		{"a man passes behind a woman", 110, []actor{
			{person: man, x: 100, y: 180, dx: 4, scale: 1},
			{person: woman, x: 540, y: 180, dx: -4, scale: 1},
		}, found{[]float64{.9, .95}, []int{2, 1}}, found{}},
		{"a woman passes behind a man", 110, []actor{
			{person: woman, x: 100, y: 180, dx: 4, scale: 1},
			{person: man, x: 540, y: 180, dx: -4, scale: 1},
		}, found{[]float64{.9, .95}, []int{2, 1}}, found{}},
		{"a man passes before another", 110, []actor{
			{person: other, x: 100, y: 180, dx: 4, scale: 1},
			{person: man, x: 540, y: 180, dx: -4, scale: 1},
		}, found{[]float64{.9, .95}, []int{2, 1}}, found{}},
		{"slowly, and the other before him", 120, []actor{
			{person: man, x: 220, y: 180, dx: 2, scale: 1},
			{person: other, x: 420, y: 190, dx: -2, scale: 1.1},
		}, found{[]float64{.85, .95}, []int{2, 1}}, found{}},
		{"a twin rushes past", 60, []actor{
			{person: man, x: 200, y: 180, scale: 1},
			{person: twin, x: 700, y: 180, dx: -25, scale: 1},
		}, found{[]float64{.9, 0}, []int{2, 2}}, found{}},
		{"one steps before another", 100, []actor{
			{person: other, x: 320, y: 180, scale: .8},
			{person: man, x: 720, y: 180, dx: -5, scale: .9},
		}, found{[]float64{.85, .85}, []int{2, 1}}, found{[]float64{.85, .4}, []int{2, 1}}},
		{"one darts before another", 80, []actor{
			{person: other, x: 320, y: 180, scale: .9},
			{person: man, x: 800, y: 180, dx: -16, scale: 1},
		}, found{[]float64{.85, 0}, []int{2, 1}}, found{}},
		{"one darts before another, who is larger", 80, []actor{
			{person: man, x: 320, y: 180, scale: 1},
			{person: other, x: 800, y: 180, dx: -16, scale: .9},
		}, found{[]float64{.85, 0}, []int{2, 1}}, found{}},
		{"another in the same place, too small for a cut", 80, []actor{
			{person: other, x: 320, y: 180, scale: .5, to: 41},
			{person: man, x: 320, y: 180, scale: .5, from: 41},
		}, found{[]float64{.85, .85}, []int{1, 1}}, found{}},
		{"in and out again", 120, []actor{{person: woman, x: -150, y: 180, dx: 8, scale: 1}}, found{[]float64{.8}, []int{1}}, found{}},
		{"small", 60, []actor{{person: man, x: 320, y: 180, dx: 1, scale: .35}}, found{[]float64{1}, []int{1}}, found{}},
		{"a hand before the mouth", 80, []actor{{person: man, x: 320, y: 180, scale: 1,
			filter: "drawbox=x=60:y=160:w=110:h=60:color=0xc09070:t=fill:enable='between(n,30,50)'"}}, found{[]float64{1}, []int{1}}, found{[]float64{.75}, []int{2}}},
		{"tilts", 100, []actor{{person: woman, x: 320, y: 180, scale: 1,
			filter: "rotate=a='.3*sin(n/12)':c=gray"}}, found{[]float64{.95}, []int{1}}, found{}},
		{"lies on one side", 100, []actor{{person: woman, x: 320, y: 180, scale: 1,
			filter: "rotate=a='.8*sin(n/16)':c=gray"}}, found{[]float64{.95}, []int{1}}, found{[]float64{.5}, []int{3}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			frames := stage(t, c.frames, c.actors...)
			eachDetector(t, func(t *testing.T, d detection.Detector) {
				want := c.want
				if strings.HasSuffix(t.Name(), "/cascades") && c.weakly.least != nil {
					want = c.weakly
				}
				tally := follow(t, NewTracker(d, 25), frames, c.actors)
				for i, a := range c.actors {
					if share := float64(tally.found[i]) / float64(tally.alone[i]); share < want.least[i] {
						t.Errorf("%s is found in %.2f of the frames, want %.2f", a.clip, share, want.least[i])
					}
					if n := len(tally.tracks[i]); n > want.tracks[i] {
						t.Errorf("%s has the tracks %v, want %d", a.clip, tally.tracks[i], want.tracks[i])
					}
				}
			})
		})
	}
}

// tally counts what a tracker finds of each actor.
type tally struct {
	alone, found []int // frames
	tracks       [][]int
}

// follow runs a tracker. A track that goes over from one actor to another, or
// has the face that another has, fails the test.
func follow(t *testing.T, tracker *Tracker, frames []*image.YCbCr, actors []actor) tally {
	n := len(actors)
	y := tally{make([]int, n), make([]int, n), make([][]int, n)}
	of := map[int]int{} // actor, of a track
	for i, frame := range frames {
		faces, _, err := tracker.Add(t.Context(), frame)
		if err != nil {
			t.Fatal(err)
		}
		for k, f := range faces {
			if slices.ContainsFunc(faces[:k], func(g Face) bool { return g.Box.Same(f.Box) }) {
				t.Errorf("frame %d: track %d is where another is", i, f.Track)
			}
		}
		for k, a := range actors {
			if !alone(actors, k, i) {
				continue
			}
			y.alone[k]++
			for _, f := range faces {
				if geom.Distance(f.Box.Centre(), a.at(i)) > .5*headSize*float32(a.scale) {
					continue
				}
				y.found[k]++
				if was, ok := of[f.Track]; ok && was != k {
					t.Errorf("frame %d: track %d of %s is on %s", i, f.Track, actors[was].clip, a.clip)
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

// alone tells whether an actor is on the stage, with nobody near.
func alone(actors []actor, k, frame int) bool {
	p, me := actors[k].at(frame), actors[k]
	for i, a := range actors {
		if i != k && frame >= a.from && frame <= a.last() && geom.Distance(p, a.at(frame)) < headWidth*.9*float32(a.scale+actors[k].scale)/2 {
			return false
		}
	}
	return frame >= me.from && frame <= me.last() && p.X > headSize/2 && p.X < stageWidth-headSize/2
}
