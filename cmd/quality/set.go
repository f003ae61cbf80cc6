package main

import (
	"context"
	"errors"
	"strings"
)

// video is a source of the set.
type video struct {
	name string
	// make writes the file. It is nil for a shared clip.
	make func(ctx context.Context, l *lab, path string) error
	// rests: its mouth does not move, so that there is nothing to end in silence.
	rests bool
	// quick: it is part of the quick set.
	quick bool
}

// text is what a voice says.
type text struct {
	name, words string
}

// speech is a voice with a text.
type speech struct {
	voice string
	text  text
	// make writes the track and its events.
	make func(ctx context.Context, l *lab, s speech) error
	// quick: it is part of the quick set.
	quick bool
}

// track returns the file of the speech, a WAV file; its events lie beside it.
func (s speech) track(l *lab) string { return l.file("media", s.name(), ".wav") }

// events returns the file of the speech's events.
func (s speech) events(l *lab) string { return l.file("media", s.name(), ".json") }

// name returns the name of the speech in files.
func (s speech) name() string { return fileName(s.voice, s.text.name) }

// fileName makes one name of words.
func fileName(words ...string) string {
	return strings.ReplaceAll(strings.TrimSpace(strings.Join(words, " ")), " ", "-")
}

var videos = []video{
	{name: "woman", quick: true},
	{name: "talking_man", quick: true},
	{name: "still", make: repeatFrame, rests: true},
	{name: "drawn", make: draw, rests: true},
}

// Texts have many sounds of the lips. Those of readers are theirs.
var (
	harbour = text{"harbour", "Good morning. My name is Barbara, and I am happy to show you a map of the harbour before we leave."}
	shoes   = text{"shoes", "Who would choose five wooden shoes? You should move above the waves. Few of us have ever seen such food so far from home."}
	hafen   = text{"hafen", "Guten Morgen. Mein Name ist Barbara, und ich höre früh am Abend fünf schöne Vögel über dem Hafen. Bitte komm pünktlich zum Zug."}
	barco   = text{"barco", "Buenos días. Me llamo Bárbara y vivo cerca del mar, donde las olas mueven un barco pequeño. Mañana por la tarde bebemos café con ustedes."}
	austen  = text{"austen", "had he married a more amiable woman he might have been made still more respectable than he was"}
	sonnet  = text{"sonnet", "from fairest creatures we desire increase that thereby beauty's rose might never die " +
		"but as the riper should by time decease his tender heir might bear his memory"}
)

var speeches = []speech{
	{"espeak en-us", harbour, speak("en-us"), true},
	{"espeak en-us", shoes, speak("en-us"), true},
	{"flite rms", harbour, flite("rms"), false},
	{"flite rms", shoes, flite("rms"), false},
	{"espeak de", hafen, speak("de"), false},
	{"espeak es", barco, speak("es"), false},
	{"reader 1", austen, recorded, false},
	{"reader 2", sonnet, recorded, false},
}

// otherSpeech is the wrong speech for the first take of each video.
var otherSpeech = speeches[1]

// silence is a track without sound. It shows how still a mouth is held.
var silence = speech{"", text{"silence", ""}, quiet, true}

// take is a video with the speech that it is to say.
type take struct {
	video  video
	speech speech
	first  bool // of its video: the pixels outside the mouth and the wrong speech are measured too
}

// takes returns what a set renders: all, or the quick ones.
func takes(quick bool) []take {
	var all []take
	for _, v := range videos {
		if quick && !v.quick {
			continue
		}
		first := true
		for _, s := range speeches {
			if !quick || s.quick {
				all = append(all, take{v, s, first})
				first = false
			}
		}
		if !v.rests {
			all = append(all, take{video: v, speech: silence})
		}
	}
	return all
}

// prepare makes the speech tracks and videos of takes.
func (l *lab) prepare(ctx context.Context, all []take) error {
	made := map[string]bool{}
	once := func(path string, make func() error) error {
		if made[path] {
			return nil
		}
		made[path] = true
		return make()
	}
	for _, t := range all {
		if err := errors.Join(
			once(l.video(t.video), func() error { return l.makeVideo(ctx, t.video) }),
			once(t.speech.track(l), func() error { return t.speech.make(ctx, l, t.speech) }),
		); err != nil {
			return err
		}
	}
	return nil
}
