package render

import (
	"encoding/binary"
	"slices"
	"testing"

	"lipsync/internal/domain/order"
	"lipsync/internal/test/ffmpegtest"
)

// photo makes a picture that shows the number 7.
func photo(t *testing.T, name string, args ...string) string {
	t.Helper()
	input := []string{"-f", "lavfi", "-i", ffmpegtest.Numbered("25", 8) + ",select=eq(n\\,7)", "-frames:v", "1"}
	return ffmpegtest.Make(t, name, append(input, args...)...)
}

// turn adds an EXIF orientation to a JPEG.
func turn(orientation uint16) func([]byte) []byte {
	return func(jpeg []byte) []byte {
		exif := []byte("\xff\xe1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01")
		exif = append(binary.BigEndian.AppendUint16(exif, orientation), 0, 0, 0, 0, 0, 0)
		return slices.Insert(jpeg, 2, exif...)
	}
}

// TestStill renders each kind of picture as a video. It is shown upright, and as long as the speech.
func TestStill(t *testing.T) {
	for _, test := range []struct {
		name, video string
		mode        order.SyncMode
	}{
		{"PNG", photo(t, "unstated.png"), order.Bounce},
		{"transparent PNG", photo(t, "unstated.png", "-pix_fmt", "rgba"), order.Loop},
		{"JPEG", photo(t, "unstated.jpg", "-q:v", "2"), order.CutOff},
		{"JPEG upside down", edit(t, photo(t, "unstated.jpg", "-q:v", "2", "-vf", "hflip,vflip"), turn(3)), order.Bounce},
		{"JPEG on its side", edit(t, photo(t, "unstated.jpg", "-q:v", "2", "-vf", "transpose=cclock"), turn(6)), order.Bounce},
		{"JPEG on its other side", edit(t, photo(t, "unstated.jpg", "-q:v", "2", "-vf", "transpose=clock"), turn(8)), order.Bounce},
		{"WebP", photo(t, "unstated.webp", "-quality", "90"), order.Pad},
		{"AVIF", photo(t, "unstated.avif", "-c:v", "libaom-av1", "-cpu-used", "8", "-still-picture", "1"), order.Bounce},
		{"named as a video", photo(t, "unstated.mp4", "-c:v", "png", "-f", "image2pipe"), order.Remap},
		{"a series of files by its name", photo(t, "unstated%03d.jpg", "-q:v", "2", "-f", "image2pipe"), order.Bounce},
		{"a video of one frame", ffmpegtest.Make(t, "a.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 8)+",select=eq(n\\,7)", "-frames:v", "1"), order.Bounce},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			output, result, err := renderBy(t, newRenderer(t, &numberer{}), test.video, sound(t, "a.wav", "0.4"), order.Options{SyncMode: test.mode})
			if err != nil {
				t.Fatal(err)
			}
			source, painted, info := numbers(t, output)
			if v := info.Video; v.Width != ffmpegtest.Width || v.Height != ffmpegtest.Height || v.Rate.String() != "25/1" {
				t.Errorf("%d × %d at %s", v.Width, v.Height, v.Rate)
			}
			if !slices.Equal(source, slices.Repeat([]int{7}, 10)) || !slices.Equal(painted, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
				t.Errorf("shows the pictures %v, painted %v", source, painted)
			}
			if want := (order.Frames{Total: 10, Synced: 10}); result.Frames != want {
				t.Errorf("got frames %+v, want %+v", result.Frames, want)
			}
			checkOutput(t, output, .4)
		})
	}
}
