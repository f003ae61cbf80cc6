package order

import (
	"reflect"
	"testing"
)

// TestUnsureSyncScore checks that a score without confidence keeps its parts, and that nothing is said of a wrong speech.
func TestUnsureSyncScore(t *testing.T) {
	s := SyncScore{Vowels: Part{All: 3, Good: 3}}
	if got, want := s.Says(), "Lips follow: no vowel is held shut."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, err := ParseSyncScore(s.Text()); !reflect.DeepEqual(got, s) || s.IsZero() || !(SyncScore{}).IsZero() || (SyncScore{}).Text() != "" {
		t.Errorf("read %+v, %v", got, err)
	}
}

// TestSyncScore checks the one figure of a score and the sentences about it, and that a stored score is read again as it was.
func TestSyncScore(t *testing.T) {
	missed := Part{All: 17, Good: 17}
	for _, at := range []float64{4.24, 7.86, 11.3} {
		missed.Miss(at)
	}
	many := Part{}
	for i := range MostMissed + 5 {
		many.Miss(float64(i))
	}
	if len(many.Missed) != MostMissed || many.All != MostMissed+5 {
		t.Errorf("got %d times of %d", len(many.Missed), many.All)
	}
	for _, c := range []struct {
		score SyncScore
		worst float64
		known bool
		says  string
	}{
		{SyncScore{}, 1, false, "The lips move with the speech."},
		{SyncScore{Closures: Part{All: 20, Good: 20}, Vowels: Part{All: 9, Good: 9}, Spoken: Part{All: 90, Good: 90}}, 1, true, "Lips follow: 20 of 20 closures close, no vowel is held shut."},
		{SyncScore{Closures: missed, Vowels: Part{All: 9, Good: 9}}, .85, true, "Lips miss 3 of 20 closures: seconds 4.2, 7.9, 11.3."},
		{SyncScore{Closures: missed, Vowels: Part{All: 3, Good: 2, Missed: []float64{2}}}, .666, true, "Lips miss 3 of 20 closures: seconds 4.2, 7.9, 11.3. Lips stay shut in 1 of 3 open vowels: second 2.0."},
		{SyncScore{Vowels: many, Spoken: Part{All: 5, Good: 4}}, 0, true, "Lips stay shut in 25 of 25 open vowels: seconds 0.0, 1.0, 2.0, 3.0, 4.0 and 20 more. 1 of 5 frames with speech stay as in the video."},
		{SyncScore{Spoken: Part{All: 3000, Good: 2999}}, .999, true, "1 of 3000 frames with speech stay as in the video."},
		{SyncScore{Offset: -5}, 1, false, "The lips come 5 frames before the speech."},
		{SyncScore{Offset: 2}, 1, false, "The lips come 2 frames after the speech."},
		{SyncScore{Offset: 1}, 1, false, "The lips move with the speech."},
		{SyncScore{Confidence: -.95}, 1, false, "It is not sure that the lips move with this speech."},
	} {
		c.score.Known, c.score.Confidence = true, c.score.Confidence+Synced
		if worst, known := c.score.Score(); worst != c.worst || known != c.known {
			t.Errorf("%+v: got %g, %t, want %g, %t", c.score, worst, known, c.worst, c.known)
		}
		if got := c.score.Says(); got != c.says {
			t.Errorf("got %q, want %q", got, c.says)
		}
		if got, err := ParseSyncScore(c.score.Text()); !reflect.DeepEqual(got, c.score) {
			t.Errorf("stored %+v, read %+v, %v", c.score, got, err)
		}
	}
}
