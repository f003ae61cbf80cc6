package speech_test

import (
	"bytes"
	"fmt"
	"os"

	"lipsync/internal/sound/speech"
)

// A second of silence asks nothing of the mouth.
func ExampleRead() {
	samples := make([]byte, 2*speech.SampleRate) // 16 bits each
	features, err := os.CreateTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(features.Name())
	track, err := speech.Read(bytes.NewReader(samples), features)
	if err != nil {
		fmt.Println(err)
		return
	}
	frames, err := track.ArticulationAt(25, 25)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(track.Seconds(), "s")
	for _, a := range frames[:1] {
		fmt.Printf("opening %.1f, silence %.1f\n", a.Opening, a.Silence)
	}
	// Output:
	// 1 s
	// opening 0.0, silence 1.0
}
