package main

import (
	"errors"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
)

// pictures names the sheets that docs/engine.md shows, by the names of their pictures there. They show the drawn head, which
// anyone may publish.
var pictures = map[string]string{
	"closures": "drawn-espeak-en-us-harbour-closed-1",
	"rounding": "drawn-espeak-en-us-harbour-rounded-1",
	"frames":   "drawn-espeak-en-us-harbour-run-1",
}

// keepPictures writes those sheets as JPEG files to a folder.
func keepPictures(sheets, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, sheet := range pictures {
		if err := toJPEG(filepath.Join(sheets, sheet+".png"), filepath.Join(folder, name+".jpg")); err != nil {
			return err
		}
	}
	return nil
}

// jpegQuality, of 100, keeps letters sharp.
const jpegQuality = 85

// toJPEG writes a PNG file as a JPEG file.
func toJPEG(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	sheet, err := png.Decode(in)
	if err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	return errors.Join(jpeg.Encode(out, sheet, &jpeg.Options{Quality: jpegQuality}), out.Close())
}
