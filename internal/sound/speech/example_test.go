package speech_test

import (
	"bytes"
	"fmt"

	"lipsync/internal/sound/speech"
)

// A second of silence asks nothing of the mouth.
func ExampleRead() {
	samples := make([]byte, 2*speech.SampleRate) // 16 bits each
	track, err := speech.Read(bytes.NewReader(samples))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(track.Seconds(), "s,", len(track.Articulation()), "hops")
	for _, a := range track.ArticulationAt(25, 25)[:1] {
		fmt.Printf("opening %.1f, silence %.1f\n", a.Opening, a.Silence)
	}
	// Output:
	// 1 s, 100 hops
	// opening 0.0, silence 1.0
}
