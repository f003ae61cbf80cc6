package main

import (
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

func TestKeepPictures(t *testing.T) {
	sheets, folder := t.TempDir(), filepath.Join(t.TempDir(), "pictures")
	if err := keepPictures(sheets, folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without sheets: got %v, want %v", err, os.ErrNotExist)
	}
	for _, sheet := range pictures {
		f, err := os.Create(filepath.Join(sheets, sheet+".png"))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(png.Encode(f, image.NewGray(image.Rect(0, 0, 30, 20))), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := keepPictures(sheets, folder); err != nil {
		t.Fatal(err)
	}
	for name := range pictures {
		f, err := os.Open(filepath.Join(folder, name+".jpg"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if got, err := jpeg.DecodeConfig(f); err != nil || got.Width != 30 || got.Height != 20 {
			t.Errorf("%s: got %d × %d, %v, want 30 × 20", name, got.Width, got.Height, err)
		}
	}
}

// TestPicturesAreDrawn checks that the full set has the trials whose sheets are kept.
func TestPicturesAreDrawn(t *testing.T) {
	drawn := map[string]bool{}
	for _, trial := range trials(false) {
		for _, passage := range []string{"closed", "rounded", "run"} {
			drawn[fileName(trial.name(), passage)+"-1"] = true
		}
	}
	for name, sheet := range pictures {
		if !drawn[sheet] {
			t.Errorf("%s: no trial draws %s", name, sheet)
		}
	}
}
