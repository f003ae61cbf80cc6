package main

import (
	"fmt"
	"strconv"
	"strings"
)

// event is the start of a phoneme in a speech track.
type event struct {
	MS      int    `json:"ms"`      // milliseconds from the start of the track
	Phoneme string `json:"phoneme"` // mnemonic of espeak-ng
}

// The measuring tools know the mnemonics of espeak-ng for English. These tables map other names to the mnemonic of the sound
// with the most similar lips.
var (
	// Phones of flite, which are those of the CMU dictionary with a few more.
	flitePhones = map[string]string{
		"aa": "A:", "ae": "a", "ah": "V", "ao": "O:", "aw": "aU", "ax": "@", "ay": "aI", "ch": "tS", "dh": "D", "eh": "E",
		"er": "3:", "ey": "eI", "hh": "h", "ih": "I", "iy": "i:", "jh": "dZ", "ng": "N", "ow": "oU", "oy": "OI", "pau": "_",
		"sh": "S", "th": "T", "uh": "U", "uw": "u:", "y": "j", "zh": "Z",
	}
	// Mnemonics of espeak-ng for other languages. ø and œ are rounded as ʊ and oʊ
	// are, and so is ɔ̃. The Spanish β leaves the lips apart, unlike all English sounds of the lips.
	foreignPhones = map[string]string{
		"a:": "A:", "E:": "E", "e:": "eI", "o:": "oU", "o": "oU", "y:": "u:", "y": "u:", "Y": "U", "Y:": "U", "W": "oU",
		"OY": "OI", "C": "j", "x": "k", "X": "k", "Q": "g", "G": "g", "B": "?", "R": "r", "R2": "r", "**": "r", "*": "r",
		"A~": "A:", "E~": "a", "O~": "oU", "@-": "@", "l^": "l", "n^": "j", ";": "j", "ts": "s", "pF": "f", "x#": "k",
	}
)

// espeakPhoneme returns the mnemonic for a phoneme of espeak-ng in any language.
func espeakPhoneme(name string) string {
	if known, ok := foreignPhones[name]; ok {
		return known
	}
	return name
}

// flitePhoneme returns the mnemonic for a phone of flite.
func flitePhoneme(name string) string {
	if known, ok := flitePhones[name]; ok {
		return known
	}
	return name
}

// fliteEvents reads what flite -psdur prints: each phone and the second at which it
// ends, as in "pau:0.174 m:0.261".
func fliteEvents(printed string) ([]event, error) {
	var events []event
	start := 0
	for _, field := range strings.Fields(printed) {
		name, end, _ := strings.Cut(field, ":")
		seconds, err := strconv.ParseFloat(end, 64)
		if err != nil {
			return nil, fmt.Errorf("flite printed %q, want PHONE:SECONDS", field)
		}
		events = append(events, event{start, flitePhoneme(name)})
		start = int(seconds*1000 + .5)
	}
	return append(events, event{start, "_"}), nil
}
