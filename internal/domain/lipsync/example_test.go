package lipsync_test

import (
	"fmt"

	"lipsync/internal/domain/lipsync"
)

// Clients get the reason of a failure as a sentence. ParseFailure returns its code and details.
func ExampleParseFailure() {
	f := lipsync.ParseFailure("video is larger than 4096 × 4096 pixels: 7680 × 4320 pixels")
	fmt.Println(f.Code, f.Code.Class())
	fmt.Println(f.Value.Width, "of at most", f.Limit.Width)
	// Output:
	// picture_larger_than input
	// 7680 of at most 4096
}

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
