package order

import "strings"

// These are the formats of files that a request may have, by the names that people know. A speech may also be the sound of a video. Texts say the
// same: tests compare those that can't be made of these.
const (
	VideoFormats   = "MP4, MOV, WebM, MKV, AVI, MPEG-TS, FLV, WMV, GIF and APNG"
	PictureFormats = "PNG, JPEG, WebP and AVIF"
	SoundFormats   = "WAV, MP3, M4A, AAC, FLAC, OGG, WMA, AIFF, CAF and W64"
)

// SoundExtensions returns the extensions of files in SoundFormats, such as .wav.
func SoundExtensions() (all []string) {
	for name := range strings.SplitSeq(strings.ReplaceAll(SoundFormats, " and ", ", "), ", ") {
		all = append(all, "."+strings.ToLower(name))
	}
	return all
}
