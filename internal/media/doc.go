// Package media groups the programs that read and write media, each started in a sandbox, and the
// drawn sample.
//
// May import: domain.
//
// Inside: c2pa → sandbox; ffmpeg → ffmpeg/container, ffmpeg/medium, sandbox.
package media
