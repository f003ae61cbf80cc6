//go:build race

package conv

// raced tells that the race detector makes pools lose some of what they get.
const raced = true
