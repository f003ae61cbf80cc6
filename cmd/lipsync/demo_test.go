package main

import (
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"lipsync/internal/test/ffmpegtest"
)

func TestDemo_long(t *testing.T) {
	t.Setenv("PATH", ffmpegtest.InstalledPath()) // users run their own ffmpeg
	dir := filepath.Join(t.TempDir(), "results")
	out, said, status := command(t, "demo", "--output", dir)
	if status != ok {
		t.Fatalf("got status %d, %q", status, said)
	}
	t.Logf("%s%s", said, out)
	wantFiles(t, dir, "before-after.png", "output.mp4", "speech.wav", "video.mp4")
	wantVideo(t, filepath.Join(dir, "video.mp4"), "1280,720,25/1,100")
	file, err := os.Open(filepath.Join(dir, "before-after.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if picture, err := png.DecodeConfig(file); err != nil || picture.Width < picture.Height {
		t.Errorf("picture: got %+v, %v, want a wide one", picture, err)
	}
}
