// Package sound groups what hears speech, and compares it with mouths: the articulation of speech, who
// speaks, and how well lips follow.
//
// May import: face, network, signal.
//
// Inside: score → speech; speaker → speech.
package sound
