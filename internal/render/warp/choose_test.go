package warp

import (
	"math"
	"slices"
	"testing"

	"lipsync/internal/face/alignment"
	"lipsync/internal/render/warp/mouth"
	"lipsync/internal/signal/geom"
	"lipsync/internal/sound/speech"
	"lipsync/internal/test/check"
	"lipsync/internal/test/facetest"
)

// talkingTrack returns a track of a person who opens and closes the mouth again and
// again, a little differently each time.
func talkingTrack(tb testing.TB, frames int) *track {
	p, plain := &person{speaks: true, Person: mouth.Person{Most: .3}}, facetest.Plain(100)
	t := newTrack(tb, p)
	for i := range frames {
		open := .15 - .15*float32(math.Cos(float64(i)*.5))
		o := mouth.Observation{To: geom.Similarity{A: 60}, Lips: someLips(open)}
		check.Must(tb, t.append(o))
		seen := appearance{100 * open, float32(i%7) / 4}
		t.widths, t.raised, t.tilts = append(t.widths, o.Width()), append(t.raised, o.Raised()), append(t.tilts, o.Tilt())
		p.bank.examples = append(p.bank.examples, example{track: t, frame: i, Example: mouth.Example{Shown: o, Pixels: plain}, appearance: seen, sharp: 5})
	}
	return t
}

// change changes the observation of a frame, and of its example.
func (t *track) change(tb testing.TB, frame int, f func(*mouth.Observation)) {
	tb.Helper()
	o := &t.person.bank.examples[frame].Shown
	f(o)
	check.Must(tb, t.rows.Set(int(t.frames[frame]), o))
}

// planOpenings returns the targets of a track for a speech with the given openings, one for each
// frame of the track.
func planOpenings(t *testing.T, talker *track, wanted []float32) []target {
	t.Helper()
	spoken := make([]speech.Articulation, len(wanted))
	for i, open := range wanted {
		spoken[i].Opening = open
	}
	return planSpoken(t, talker, spoken)
}

// planSpoken returns the targets of a track for a speech with an articulation for each frame of the track.
func planSpoken(t *testing.T, talker *track, spoken []speech.Articulation) (targets []target) {
	t.Helper()
	err := talker.plan(t.Context(), fps, spoken, func(i int) int { return i }, func(next *target) error {
		targets = append(targets, *next)
		return nil
	})
	check.Must(t, err)
	return targets
}

// shownGap returns the gap of the mouth that a target shows, before it is warped.
func (t *target) shownGap() float32 { return t.track.person.bank.examples[t.example].Shown.Gap() }

// TestChooseWhatWasSaid asks for the openings of the person in the video. The best examples are
// the same frames, without a jump.
func TestChooseWhatWasSaid(t *testing.T) {
	talker := talkingTrack(t, 80)
	var wanted []float32
	for _, o := range talker.observations(t)[20:60] {
		wanted = append(wanted, o.Gap()/talker.person.Most)
	}
	jumps := 0
	targets := planOpenings(t, talker, wanted)
	for i, r := range targets {
		if off := r.shownGap() - r.shape.Gap; off > .1 || off < -.1 {
			t.Errorf("frame %d: open by %.2f, want %.2f", i, r.shownGap(), r.shape.Gap)
		}
		if i > 0 && abs(float32(r.example-targets[i-1].example)) > 1 {
			jumps++
		}
	}
	if jumps > 0 {
		t.Errorf("%d jumps", jumps)
	}
}

// TestChooseSteady asks for a mouth that stays closed, then open.
func TestChooseSteady(t *testing.T) {
	talker := talkingTrack(t, 80)
	wanted := make([]float32, 80)
	for i := 40; i < 80; i++ {
		wanted[i] = 1
	}
	jumps := 0
	targets := planOpenings(t, talker, wanted)
	for i, r := range targets {
		if i > 0 && abs(float32(r.example-targets[i-1].example)) > 1 {
			jumps++
		}
		if i < 30 && r.shownGap() > .06 || i > 50 && r.shownGap() < .2 {
			t.Errorf("frame %d: open by %.2f, want %.2f", i, r.shownGap(), r.shape.Gap)
		}
	}
	if jumps > 1 {
		t.Errorf("%d jumps, want one at most", jumps)
	}
}

// TestAskewMouthsCost slants a mouth, in a frame around which the mouth is straight or slanted. A slope like that costs nothing, and that of a
// grimace much.
func TestAskewMouthsCost(t *testing.T) {
	own := mouth.Observation{To: geom.Similarity{A: 60}, Lips: someLips(.2)}
	cost := func(slope, around float32) float32 {
		shown := own
		rise := slope * shown.Width() / 2
		shown.Left.Y -= rise
		shown.Right.Y += rise
		return (&person{}).unlike(&own, &shown, around)
	}
	for _, around := range []float32{0, .2} {
		if got := cost(around+.02, around); got != 0 {
			t.Errorf("around a slope of %.2f one of %.2f costs %.2f, want 0", around, around+.02, got)
		}
		if got := cost(around+.35, around); got < gapCost {
			t.Errorf("around a slope of %.2f one of %.2f costs %.2f, want more than half of the largest gap too much, %.2f", around, around+.35, got, gapCost)
		}
	}
	if left, right := cost(-.35, 0), cost(.35, 0); abs(left-right) > .001 {
		t.Errorf("slopes of −.35 and .35 cost %.2f and %.2f, want the same", left, right)
	}
}

// TestExpressionsCost asks for open mouths while the person hardly opens the mouth. The open ones of another expression, later, are not shown.
func TestExpressionsCost(t *testing.T) {
	for _, c := range []struct {
		name        string
		before      float32 // by which the right corner is raised at first
		left, right float32 // by which the corners are raised later
	}{{"smile", 0, .12, .12}, {"smirk", 0, 0, .06}, {"straight mouth", .06, 0, 0}} {
		talker, wanted := talkingTrack(t, 100), make([]float32, 100)
		for i := range wanted {
			wanted[i] = .5
			talker.change(t, i, func(o *mouth.Observation) {
				if i < 70 {
					o.Lips = someLips(.05)
				}
				if i < 50 {
					o.Right.Y -= c.before
				} else {
					o.Left.Y, o.Right.Y = o.Left.Y-c.left, o.Right.Y-c.right
				}
			})
		}
		talker.person.tracks = []*track{talker}
		check.Must(t, talker.person.summarise(fps))
		for i, target := range planOpenings(t, talker, wanted)[:30] {
			if target.example >= 50 {
				t.Errorf("frame %d shows the %s of frame %d", i, c.name, target.example)
			}
		}
	}
}

// TestFrownsCost asks for open mouths. Those whose corners hang for a frame only, which the mood around them doesn't show, are not shown.
func TestFrownsCost(t *testing.T) {
	talker, wanted := talkingTrack(t, 100), make([]float32, 100)
	for i := range wanted {
		wanted[i] = .5
		talker.change(t, i, func(o *mouth.Observation) {
			o.Lips = someLips(.05)
			if i%10 == 9 {
				o.Lips = someLips(.15)
				o.Left.Y, o.Right.Y = o.Left.Y+.15, o.Right.Y+.15
			}
		})
	}
	talker.person.tracks = []*track{talker}
	check.Must(t, talker.person.summarise(fps))
	for i, target := range planOpenings(t, talker, wanted) {
		if target.example%10 == 9 {
			t.Errorf("frame %d shows the frown of frame %d", i, target.example)
		}
	}
}

// TestStretchedLipsCost compares mouths that have to open to .3. One that is less open costs more.
func TestStretchedLipsCost(t *testing.T) {
	cost := func(gap float32) float32 {
		shown, p := mouth.Observation{Lips: someLips(gap)}, &person{Person: mouth.Person{Most: .3}}
		return p.misfit(mouth.Shape{Gap: .3, Width: shown.Width()}, &shown)
	}
	if none, some, all := cost(0), cost(.2), cost(.27); !(none > some+wideCost/2 && some > all) {
		t.Errorf("mouths with gaps of 0, .2 and .27 cost %.2f, %.2f and %.2f", none, some, all)
	}
}

// TestGrimacesCost compares a mouth that is open on one side with one that is as open on both, in a frame whose own mouth is closed.
func TestGrimacesCost(t *testing.T) {
	own, even := mouth.Observation{To: geom.Similarity{A: 60}, Lips: someLips(0)}, mouth.Observation{To: geom.Similarity{A: 60}, Lips: someLips(.1)}
	grimace := even
	for k := range grimace.Lower {
		grimace.Lower[k] = grimace.Upper[k] + (grimace.Lower[k]-grimace.Upper[k])*2*float32(k)/float32(len(grimace.Lower)-1)
	}
	if a, b := (&person{}).unlike(&own, &grimace, 0), (&person{}).unlike(&own, &even, 0); a < b+gapCost {
		t.Errorf("a grimace costs %.2f, an even mouth %.2f", a, b)
	}
	usual := &person{lop: grimace.Lop() / grimace.Gap()} // of a person whose mouth always opens on one side
	if a, b := usual.unlike(&own, &grimace, 0), usual.unlike(&own, &even, 0); b < a+gapCost {
		t.Errorf("the usual mouth costs %.2f, an even one %.2f", a, b)
	}
}

// TestBlurredLipsCost checks that lips that touch are those of sharp examples, if there are any: of a picture with edges at the lips and a line
// between them. Of a black picture none is sharper.
func TestBlurredLipsCost(t *testing.T) {
	talker := talkingTrack(t, 80)
	const skin, lip = 150, 110
	drawn, examples := facetest.Plain(skin), talker.person.bank.examples
	shut := someLips(0)
	middle := len(shut.Top) / 2
	for y := range drawn.Rect.Dy() {
		luma, down := uint8(skin), float32(y)/60
		if down > shut.Top[middle] && down < shut.Bottom[middle] {
			luma = lip
		}
		if abs(down-shut.Upper[middle]) < .02 {
			luma /= 2
		}
		for x := range drawn.Rect.Dx() {
			drawn.Y[drawn.YOffset(x, y)] = luma
		}
	}
	soft, wrong := facetest.Blurred(drawn, 0, 2), 0
	for i := range examples {
		if examples[i].Pixels = drawn; i < 20 { // which come first
			examples[i].Pixels = soft
		}
	}
	for _, target := range planOpenings(t, talker, make([]float32, 80)) {
		if target.shownGap() >= alignment.Touching || examples[target.example].Pixels == soft {
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("%d of 80 frames show blurred lips, or open ones", wrong)
	}
	for i := range examples {
		examples[i].Pixels, examples[i].sharp = facetest.Plain(0), 0
	}
	if slices.Contains(blurred(examples), true) {
		t.Error("an example of a black picture is blurred")
	}
	for i, cost := range dull(examples) {
		if cost != 0 {
			t.Fatalf("example %d of black pictures costs %f", i, cost)
		}
	}
}

// TestChooseLeavesOut checks examples that must not be shown, and people who get no
// examples.
func TestChooseLeavesOut(t *testing.T) {
	talker := talkingTrack(t, 80)
	for i := range talker.person.bank.examples {
		if i%3 == 0 {
			talker.person.bank.examples[i].sharp = 1
		}
		if i >= 40 { // the head is turned
			talker.change(t, i, func(o *mouth.Observation) { o.Pose[0] = .9 })
		}
	}
	for i, r := range planOpenings(t, talker, make([]float32, 40)) {
		if r.example%3 == 0 {
			t.Errorf("frame %d: example %d is blurred", i, r.example)
		}
		if r.example >= 40 {
			t.Errorf("frame %d: example %d is of a turned head", i, r.example)
		}
	}
	talker.person.speaks = false
	for i, r := range planOpenings(t, talker, make([]float32, 100)) {
		if shown := r.track != nil; shown != (i < 80) || shown && (r.example != -1 || r.frame != i) {
			t.Errorf("frame %d: %+v", i, r)
		}
	}
}
