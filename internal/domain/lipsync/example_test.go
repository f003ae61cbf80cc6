package lipsync_test

import (
	"fmt"

	"lipsync/internal/domain/lipsync"
)

// The zero value means no failure and has no sentence.
func ExampleFailure_Sentence() {
	f := lipsync.Failure{
		Code:    lipsync.MediaLongerThan,
		Details: lipsync.Details{Kind: lipsync.Audio, Limit: lipsync.Quantity{Seconds: 3600}, Value: lipsync.Quantity{Seconds: 5400}},
	}
	fmt.Println(f.Sentence())
	fmt.Printf("%q\n", lipsync.Failure{}.Sentence())
	// Output:
	// audio is longer than 60 minutes: 90 minutes
	// ""
}
