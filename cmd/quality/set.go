package main

import (
	"context"
	"errors"
	"strings"
)

// video is a source video of the set.
type video struct {
	name string
	// set is the set of trials that the video belongs to: dev or judge.
	set string
	// folder is the folder of a shared clip in that of the media: people, or "".
	folder string
	// make writes the file. It is nil for a shared clip.
	make func(ctx context.Context, l *layout, path string) error
	// rests tells whether the mouth in it does not move. Then it is not rendered with silence.
	rests bool
	// quick tells that it is part of the quick set.
	quick bool
}

// text is a text that a voice says.
type text struct {
	name, words string
}

// speech is a voice with a text.
type speech struct {
	voice string
	text  text
	// set is the set of trials that the voice belongs to.
	set string
	// make writes the track and its events.
	make func(ctx context.Context, l *layout, s speech) error
	// quick tells that it is part of the quick set.
	quick bool
}

// track returns the file of the speech, a WAV file; its events lie beside it.
func (s speech) track(l *layout) string { return l.file("media", s.name(), ".wav") }

// events returns the file of the speech's events.
func (s speech) events(l *layout) string { return l.file("media", s.name(), ".json") }

// name returns the name of the speech in files.
func (s speech) name() string { return fileName(s.voice, s.text.name) }

// fileName returns words as one name of a file.
func fileName(words ...string) string {
	return strings.ReplaceAll(strings.TrimSpace(strings.Join(words, " ")), " ", "-")
}

// Sets of trials. Constants of the engine may be chosen by the figures of dev. None is chosen by those of judge, which has other
// people and voices: they tell how well the engine does with strangers.
const (
	dev   = "dev"
	judge = "judge"
)

var videos = []video{
	{name: "woman", set: dev, quick: true},
	{name: "talking_man", set: dev, quick: true},
	{name: "still", set: dev, make: repeatFrame, rests: true},
	{name: "drawn", set: dev, make: draw, rests: true},
	{name: "man_suit", set: dev, folder: "people"},
	{name: "man_walking", set: dev, folder: "people"},
	{name: "woman_far", set: dev, folder: "people"},
	{name: "woman_grimaces", set: dev, folder: "people"},
	{name: "man_bright_glasses", set: dev, folder: "people"},
	{name: "child", set: judge, folder: "people"},
	{name: "man_glasses", set: judge, folder: "people"},
	{name: "man_turned", set: judge, folder: "people"},
	{name: "woman_earrings", set: judge, folder: "people"},
	{name: "woman_hands", set: judge, folder: "people", rests: true},
}

// The texts have many sounds that the lips show. The last five are those of recordings.
var (
	harbour = text{name: "harbour", words: "Good morning. My name is Barbara, and I am happy to show you a map of the harbour before we leave."}
	shoes   = text{name: "shoes", words: "Who would choose five wooden shoes? You should move above the waves. Few of us have ever seen such food so far from home."}
	hafen   = text{name: "hafen", words: "Guten Morgen. Mein Name ist Barbara, und ich höre früh am Abend fünf schöne Vögel über dem Hafen. Bitte komm pünktlich zum Zug."}
	austen  = text{name: "austen", words: "had he married a more amiable woman he might have been made still more respectable than he was"}
	sonnet  = text{name: "sonnet", words: "from fairest creatures we desire increase that thereby beauty's rose might never die " +
		"but as the riper should by time decease his tender heir might bear his memory"}
	appel = text{name: "appel", words: "Tous nos préposés sont présentement occupés. Votre appel est important pour nous, " +
		"merci de bien vouloir patienter afin de conserver votre priorité d'appel."}
	linea = text{name: "linea", words: "Tutti i nostri operatori sono al momento occupati. Rimanga cortesemente in linea " +
		"e le risponderà il primo operatore disponibile."}
	espere = text{name: "espere", words: "Todos nuestros representantes se encuentran ocupados, por favor espere y pronto le atenderemos."}
)

var speeches = []speech{
	{voice: "espeak en-us", text: harbour, set: dev, make: speak("en-us"), quick: true},
	{voice: "espeak en-us", text: shoes, set: dev, make: speak("en-us"), quick: true},
	{voice: "flite rms", text: shoes, set: dev, make: flite("rms")},
	{voice: "reader 1", text: austen, set: dev, make: recorded("en-us")},
	{voice: "espeak de", text: hafen, set: judge, make: speak("de")},
	{voice: "reader 2", text: sonnet, set: judge, make: recorded("en-us")},
	{voice: "reader 3", text: appel, set: judge, make: recorded("fr")},
	{voice: "reader 4", text: linea, set: judge, make: recorded("it")},
	{voice: "reader 5", text: espere, set: judge, make: recorded("es-419")},
}

// otherSpeech is the wrong speech for the first trial of each video.
var otherSpeech = speeches[1]

// silence is a track without sound. With it the movement of a mouth is measured that should rest.
var silence = speech{text: text{name: "silence"}, make: quiet, quick: true}

// trial is one measurement: a video and the speech that it is rendered with.
type trial struct {
	video  video
	speech speech
	first  bool // trial of its video: with it, the pixels outside the mouth and the wrong speech are measured too
}

// trials returns the trials of the full set, or of the quick one: each video with the voices of its set.
func trials(quick bool) []trial {
	var all []trial
	for _, v := range videos {
		if quick && !v.quick {
			continue
		}
		first := true
		for _, s := range speeches {
			if s.set == v.set && (!quick || s.quick) {
				all = append(all, trial{video: v, speech: s, first: first})
				first = false
			}
		}
		if !v.rests {
			all = append(all, trial{video: v, speech: silence})
		}
	}
	return all
}

// prepare makes the speech tracks and videos of trials.
func (l *layout) prepare(ctx context.Context, all []trial) error {
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
