package medium

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// dispositions lists the fields of disposition as ffprobe's option -show_entries takes them.
const dispositions = "default,comment,hearing_impaired,visual_impaired,attached_pic,timed_thumbnails,still_image"

// disposition is what a file says of the use of a stream: 1 for yes.
type disposition struct {
	Default         int `json:"default"`
	Comment         int `json:"comment"`
	HearingImpaired int `json:"hearing_impaired"`
	VisualImpaired  int `json:"visual_impaired"`
	AttachedPic     int `json:"attached_pic"`
	Thumbnails      int `json:"timed_thumbnails"`
	StillImage      int `json:"still_image"`
}

// The errors of a file without a track that was asked for.
var (
	ErrNoVideoTrack = errors.New("no such track of pictures")
	ErrNoAudioTrack = errors.New("no such track of sound")
)

// Take returns the file with other tracks than its default ones, by their numbers from 1. 0 is the default track. The error is ErrNoVideoTrack or
// ErrNoAudioTrack.
func (in *Info) Take(video, audio int) (*Info, error) {
	switch {
	case video > in.VideoTracks:
		return nil, fmt.Errorf("%w: %d of %d", ErrNoVideoTrack, video, in.VideoTracks)
	case audio > in.AudioTracks:
		return nil, fmt.Errorf("%w: %d of %d", ErrNoAudioTrack, audio, in.AudioTracks)
	case in.report == nil || video == 0 && audio == 0:
		return in, nil
	}
	taken, err := in.report.info(video, audio)
	if err == nil {
		taken.Path = in.Path
	}
	return taken, err
}

// info returns the Info of a film or a sound, with the tracks of the numbers, or with the default ones for 0. The error is that of the only track.
func (r *report) info(video, audio int) (*Info, error) {
	in := &Info{Duration: parseSeconds(r.Format.Duration), report: r}
	in.Format, _, _ = strings.Cut(r.Format.Name, ",")
	var unusable error
	var films, sounds []stream
	for _, s := range r.Streams {
		d := s.Disposition
		rate, _ := strconv.Atoi(s.SampleRate)
		switch {
		case s.Type == "video" && d.AttachedPic == 0 && d.Thumbnails == 0:
			s = r.begin(s)
			s.SideData = append(s.SideData, r.firstFrame(s)...) // a codec can tell how its pictures are turned, too
			if _, err := s.video(); err != nil {
				unusable = err
				continue
			}
			films = append(films, s)
		case s.Type == "audio" && s.Codec != "" && s.Channels > 0 && rate >= minSampleRate:
			sounds = append(sounds, s)
		}
	}
	if r.Format.Tags.Brand == "avis" && slices.ContainsFunc(films, lasts) { // ffmpeg 7 lists the still picture of an AVIF that moves beside its track
		films = slices.DeleteFunc(films, func(s stream) bool { return !lasts(s) })
	}
	if films == nil {
		if in.Unusable = unusable; sounds == nil && unusable != nil {
			return nil, unusable
		}
	}
	in.VideoTracks, in.VideoTrack = len(films), taken(films, video)
	in.AudioTracks, in.AudioTrack = len(sounds), taken(sounds, audio)
	if in.VideoTrack > 0 {
		s := films[in.VideoTrack-1]
		v, _ := s.video()
		times := r.times(s)
		v.start = times[0]
		v.Rate, _ = s.rate(in.Format, times).snap()
		v.Stated, v.mastering = r.stated(s, v), r.mastering(s)
		v.Bits = r.bits(s, v)
		in.Video = v
	}
	var sound stream
	if in.AudioTrack > 0 {
		sound = sounds[in.AudioTrack-1]
		rate, _ := strconv.Atoi(sound.SampleRate)
		in.Audio = &Audio{SampleRate: rate, Channels: sound.Channels, Index: sound.Index}
	}
	r.line(in, sound)
	return in, nil
}

// lasts reports whether a stream states how long it is.
func lasts(s stream) bool { return parseSeconds(s.Duration) > 0 }

// taken returns the number of the track that was asked for. 0 asks for the one that players take: the first that is a default, or else the first
// that is no comment and not for the deaf or the blind. It returns 0 if there is none.
func taken(all []stream, asked int) int {
	if asked > 0 || len(all) == 0 {
		return min(asked, len(all))
	}
	for i, s := range all {
		if s.Disposition.Default != 0 && s.Disposition.StillImage == 0 {
			return i + 1
		}
	}
	for i, s := range all {
		if d := s.Disposition; d.Comment+d.HearingImpaired+d.VisualImpaired+d.StillImage == 0 {
			return i + 1
		}
	}
	return 1
}
