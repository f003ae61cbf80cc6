package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"lipsync/internal/media/demo"
	"lipsync/internal/test/sharedtest"
)

// footage is a short video of people. Clips are made from it.
type footage struct{ name, path string }

// footages returns footage of one face and of two, and speech. They are videos of people if the
// folder that LIPSYNC_SHARED names (see docs/testing.md) has them, and otherwise drawn.
func footages(b *testing.B) (pictures []footage, speech string) {
	b.Helper()
	media, ok := sharedtest.Find(b, "media")
	if !ok {
		return drawnFootages(b)
	}
	for _, f := range []struct{ name, file string }{
		{"one-face-of-talking_man.mp4", "talking_man.mp4"},
		{"two-faces-of-two_people.mp4", "two_people.mp4"},
	} {
		pictures = append(pictures, footage{f.name, filepath.Join(media, f.file)})
	}
	return pictures, filepath.Join(media, "speech.wav")
}

// drawnFootages draws the head of the demo once, and twice side by side.
func drawnFootages(b *testing.B) (pictures []footage, speech string) {
	b.Helper()
	dir := b.TempDir()
	one, two, speech := filepath.Join(dir, "one.mp4"), filepath.Join(dir, "two.mp4"), filepath.Join(dir, "speech.wav")
	if err := demo.Video(b.Context(), one, demo.Frames, 1, func(int) {}); err != nil {
		b.Fatal(err)
	}
	if err := demo.Speech(b.Context(), speech); err != nil {
		b.Fatal(err)
	}
	const pair = "crop=iw/2:ih,split[left][right];[right]hflip[mirrored];[left][mirrored]hstack"
	if err := runFFmpeg("-i", one, "-vf", pair, "-preset", "veryfast", "-crf", "14", two); err != nil {
		b.Fatal(err)
	}
	return []footage{{"one-face-drawn", one}, {"two-faces-drawn", two}}, speech
}

// Numbers of frames of a clip. Both are whole seconds at 25 and at 60 frames/s, so the job, which
// is as long as the speech, has as many frames as the clip. A job keeps the frames of short videos
// in memory, and decodes long videos twice.
const (
	shortClip = 300
	longClip  = 600
)

// clip is the video and the speech of a job. Both have the same length.
type clip struct {
	video, audio string
	frames       int
}

// newClip makes a clip with a height in pixels and an aspect ratio of 16:9. It
// repeats the footage and the speech as often as needed. The pictures fit into
// the frame, over a blurred background of the same colours; frames between two
// pictures of the footage are blends of these.
func newClip(b *testing.B, height, fps, frames int, pictures, speech string) *clip {
	b.Helper()
	dir := b.TempDir()
	c := &clip{filepath.Join(dir, "video.mp4"), filepath.Join(dir, "audio.wav"), frames}
	filter := fmt.Sprintf("minterpolate=fps=%[3]d:mi_mode=blend,split[fore][back];"+
		"[fore]scale=%[1]d:%[2]d:force_original_aspect_ratio=decrease[sharp];"+
		"[back]scale=16:9,scale=%[1]d:%[2]d,setsar=1[blurred];"+
		"[blurred][sharp]overlay=(W-w)/2:(H-h)/2", height*16/9, height, fps)
	if err := runFFmpeg("-stream_loop", "-1", "-i", pictures, "-an", "-vf", filter,
		"-frames:v", strconv.Itoa(frames), "-preset", "veryfast", "-crf", "18", c.video); err != nil {
		b.Fatal(err)
	}
	if err := runFFmpeg("-stream_loop", "-1", "-i", speech, "-t", strconv.Itoa(frames/fps), c.audio); err != nil {
		b.Fatal(err)
	}
	return c
}
