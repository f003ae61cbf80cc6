// Package test groups what only tests use: suites that adapters and deployments pass, emulators, drawn
// faces and clips, and the rules of this repository.
//
// May import: anything.
//
// Inside: anything.
package test
