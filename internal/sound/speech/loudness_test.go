package speech

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"
	"testing/iotest"
)

// TestLoudness hears tones after silence, of more and of less than a tenth of five seconds.
func TestLoudness(t *testing.T) {
	for seconds, want := range map[float64]float64{.6: .5 / math.Sqrt2, .4: 0} {
		var pcm []byte
		for i := range 5 * SampleRate {
			value := 0.
			if at := float64(i) / SampleRate; at >= 5-seconds {
				value = .5 * math.Sin(2*math.Pi*200*at)
			}
			pcm = binary.LittleEndian.AppendUint16(pcm, uint16(int16(value*math.MaxInt16)))
		}
		loud, some, err := Loudness(bytes.NewReader(pcm))
		if math.Abs(loud-want) > .001 || !some || err != nil {
			t.Errorf("%.1f s: got %.3f, %t, %v, want %.3f", seconds, loud, some, err, want)
		}
	}
	if _, some, err := Loudness(bytes.NewReader(nil)); some || err != nil {
		t.Errorf("nothing: got %t, %v", some, err)
	}
	broken := errors.New("broken")
	if _, _, err := Loudness(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}
