package order

import "strconv"

// AudioTrack is the number of a sound track in its file, from 1. 0 is the track that players take.
type AudioTrack int

// VideoTrack is the number of a track of pictures in its file, from 1. 0 is the track that players take.
type VideoTrack int

// mostTracks is the largest number of a track.
const mostTracks = 64

// String returns the number, and "" for the track that players take.
func (t AudioTrack) String() string { return trackText(int(t)) }

// String returns the number, and "" for the track that players take.
func (t VideoTrack) String() string { return trackText(int(t)) }

func trackText(number int) string {
	if number == 0 {
		return ""
	}
	return strconv.Itoa(number)
}

// UnmarshalText reads a number. The error of anything else is Invalid, and says what is possible.
func (t *AudioTrack) UnmarshalText(text []byte) error {
	n, err := audioTrackOption.number(text)
	if err == nil {
		*t = AudioTrack(n)
	}
	return err
}

// UnmarshalText reads a number. The error of anything else is Invalid, and says what is possible.
func (t *VideoTrack) UnmarshalText(text []byte) error {
	n, err := videoTrackOption.number(text)
	if err == nil {
		*t = VideoTrack(n)
	}
	return err
}
