package main

import (
	"slices"
	"strings"
	"testing"
)

// The mnemonics that the measuring tools know.
var knownPhonemes = strings.Fields(`m b p f v w u: U u i: i I I2 I# e E eI a aa A: A@ 0 O: O O@ oU aI aU OI V @ 3: 3 @L s z S Z tS dZ
	t d n l r k g N h j T D _ _: _! ?`)

func TestPhonemes(t *testing.T) {
	for _, test := range []struct {
		name   string
		rename func(string) string
		in     string
		want   string
	}{
		{"espeak, English", espeakPhoneme, "m A: aI S I# _: 3:", "m A: aI S I# _: 3:"},
		{"espeak, German", espeakPhoneme, "a: e: o: Y: y: W C pF ts b", "A: eI oU U u: oU j f s b"},
		{"espeak, Spanish", espeakPhoneme, "o B n^ ** e T", "oU ? j r e T"},
		{"flite", flitePhoneme, "pau m ay ae p ah ax hh er jh uw s", "_ m aI a p V @ h 3: dZ u: s"},
		{"espeak, French", espeakPhoneme, "p E~ O~ A~ @- y", "p a oU A: @ u:"},
	} {
		var got []string
		for _, in := range strings.Fields(test.in) {
			got = append(got, test.rename(in))
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

// TestKnownPhonemes looks for names that the measuring tools do not know.
func TestKnownPhonemes(t *testing.T) {
	for _, names := range []map[string]string{flitePhones, foreignPhones} {
		for from, to := range names {
			if !slices.Contains(knownPhonemes, to) {
				t.Errorf("%s becomes %s, which the tools do not know", from, to)
			}
		}
	}
}

func TestFliteEvents(t *testing.T) {
	got, err := fliteEvents("pau:0.174 m:0.261 ay:0.443 \n")
	want := []event{{0, "_"}, {174, "m"}, {261, "aI"}, {443, "_"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v (%v), want %v", got, err, want)
	}
	if _, err := fliteEvents("pau m"); err == nil {
		t.Error("got no error for phones without times")
	}
}
