package tracking

import (
	"context"
	"image"

	"lipsync/internal/face/detection"
	"lipsync/internal/face/registration"
	"lipsync/internal/signal/geom"
)

// step is a track's possible face in the next frame.
type step struct {
	Face
	to         geom.Similarity // as in track; the zero value if it is not known
	move       geom.Similarity // from the last frame of the face to this one, if registration found it
	appearance appearance
	match      float32 // NCC of the appearance with the track's; 0 without a face
	confirmed  bool    // whether detection found the face
}

const (
	samePerson    = .7 // least match of a step with its track: see appearance
	lastShare     = .2 // share of the last frame in the track's appearance
	detectedShare = .5 // share of detected landmarks, which err by 1 to 2 pixels; the rest is that of the landmarks that registration has moved
)

// follow searches for the face of each track near its last place. A face that seems to be that of another person is
// missed: a track may end, but it never goes on with another person.
func (t *Tracker) follow(ctx context.Context, frame *image.YCbCr) error {
	steps := make([]step, len(t.live))
	for i, k := range t.live {
		s, err := t.step(ctx, frame, k)
		if err != nil {
			return err
		}
		if s.Crop != nil && s.Box.Inside(frame.Rect) {
			s.appearance = appearanceOf(s.Crop, s.Landmarks)
			s.match = registration.NCC(s.appearance[:], k.appearance[:])
			steps[i] = s
		}
	}
	live := t.live[:0]
	for i, k := range t.live {
		if k.update(steps[i], contested(steps, i)); k.misses > 0 {
			t.tell(lostAt(k.Box, frame.Rect), t.every.told)
		}
		if k.misses < missesToLose {
			live = append(live, k)
		}
	}
	t.live = live
	return nil
}

// step finds a track's face in the next frame by registration. It detects the face if registration fails, or if it is time
// to confirm the face. The step has no crop if there is no face. The mouth of a face that is only registered is still to be placed.
func (t *Tracker) step(ctx context.Context, frame *image.YCbCr, k *track) (s step, err error) {
	crop := cropOf(frame, k.Face.Face, k.velocity)
	if crop == nil {
		return step{}, nil
	}
	near := k.Face.Face
	to, registered := k.register(crop)
	if registered {
		s.move = k.to.Inverse().Then(to)
		near = carried(near, s.move)
	}
	if registered && k.unsure+1 < t.every.confirm {
		s.Face, s.to = Face{Face: near, Crop: crop}, to
		return s, nil
	}
	found, ok, err := t.detector.Locate(ctx, frame, near)
	if err != nil || !ok {
		return step{}, err
	}
	s.confirmed = true
	if !registered {
		s.Face = Face{Face: found, Crop: cropOf(frame, found, geom.Point{})}
		return s, nil
	}
	s.Face, s.to = Face{Face: blend(near, found), Crop: crop}, to
	return s, nil
}

// blend returns the face that detection found. Each rigid landmark is the mean of the detected and the registered one.
func blend(followed, found detection.Face) detection.Face {
	out := found
	for _, i := range detection.Rigid() {
		out.Landmarks[i] = followed.Landmarks[i].Lerp(found.Landmarks[i], detectedShare)
	}
	return out
}

// contested tells whether another step has the same face as step i, and matches its track better.
func contested(steps []step, i int) bool {
	for k, s := range steps {
		if k != i && s.match > steps[i].match && s.Box.Same(steps[i].Box) {
			return true
		}
	}
	return false
}

// update moves the track to a step, or counts a miss if the step seems to lead to another person.
func (k *track) update(s step, contested bool) {
	k.unsure++
	if contested || s.match < samePerson {
		k.misses++
		k.velocity = geom.Point{}
		return
	}
	if k.misses == 0 {
		before, after := centreOfEyes(k.Landmarks), centreOfEyes(s.Landmarks)
		k.velocity = geom.Point{X: after.X - before.X, Y: after.Y - before.Y}
	}
	s.Track = k.Track
	k.Face, k.misses = s.Face, 0
	for i, v := range s.appearance {
		k.appearance[i] += lastShare * (v - k.appearance[i])
	}
	k.move = s.move
	if k.to = s.to; s.confirmed {
		k.unsure = 0
		k.learn()
	}
}

func centreOfEyes(l detection.Landmarks) geom.Point {
	return geom.Centroid(l[detection.LeftPupil], l[detection.RightPupil])
}
