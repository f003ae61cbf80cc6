package failure_test

import (
	"fmt"

	"lipsync/internal/domain/failure"
)

// The zero value means no failure and has no sentence.
func ExampleFailure_Sentence() {
	f := failure.Failure{
		Code:    failure.MediaLongerThan,
		Details: failure.Details{Kind: failure.Audio, Limit: failure.Quantity{Seconds: 3600}, Value: failure.Quantity{Seconds: 5400}},
	}
	fmt.Println(f.Sentence())
	fmt.Printf("%q\n", failure.Failure{}.Sentence())
	// Output:
	// audio is longer than 60 minutes: 90 minutes
	// ""
}
