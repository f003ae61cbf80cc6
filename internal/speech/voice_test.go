package speech

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestSpokenSentence has a sentence spoken and looks at its mouth.
func TestSpokenSentence(t *testing.T) {
	s := speak(t, `[[fA:: f'A:: f'A::]] . . [[m'A::m m'A::m]]`)
	level, open := s.Loudness(), s.Openings(HopRate, int(s.Seconds()*HopRate))
	var loudest, quiet []float32
	top := float32(-100)
	for _, v := range level {
		top = max(top, v)
	}
	silentFor := 0
	for i, v := range level[:len(open)] {
		if v < top-60 {
			silentFor++
		} else {
			silentFor = 0
		}
		switch {
		case v > top-6:
			loudest = append(loudest, open[i])
		case silentFor > 12: // hops: lips need a moment
			quiet = append(quiet, open[i])
		}
	}
	if len(loudest) < 20 || len(quiet) < 10 {
		t.Fatalf("%d loud and %d quiet hops", len(loudest), len(quiet))
	}
	if got := mean(loudest); got < .6 {
		t.Errorf("at its loudest: opening %.2f on average, want .6 or more", got)
	}
	if got := mean(quiet); got > .05 {
		t.Errorf("in its pauses: opening %.2f on average, want .05 or less", got)
	}
}

// speak has espeak-ng say a text.
func speak(t *testing.T, text string) *Speech {
	t.Helper()
	for _, tool := range []string{"espeak-ng", "ffmpeg"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	wav := filepath.Join(t.TempDir(), "a.wav")
	if out, err := exec.Command("espeak-ng", "-v", "en-us", "-s", "140", "-w", wav, text).CombinedOutput(); err != nil {
		t.Fatalf("espeak-ng: %v\n%s", err, out)
	}
	pcm, err := exec.Command("ffmpeg", "-v", "error", "-nostdin", "-i", wav, "-f", "s16le", "-ac", "1", "-ar", "16000", "-").Output()
	if err != nil {
		t.Fatalf("ffmpeg: %v", err)
	}
	return read(t, bytes.NewReader(pcm))
}
