package lipsync_test

import (
	"encoding"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
)

// TestTable checks that the table has each option and each field of an output, by the name in JSON and of the type that the field has, and
// that no two share a flag or a field of the form.
func TestTable(t *testing.T) {
	rows := slices.Concat(lipsync.OptionsAt(lipsync.OfRequest), lipsync.OptionsAt(lipsync.OfOutput))
	for _, object := range []reflect.Type{reflect.TypeFor[lipsync.Options](), reflect.TypeFor[lipsync.Output]()} {
		for field := range object.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "output" || name == "segments" || name == "-" {
				continue
			}
			if len(rows) == 0 || rows[0].Name != name || rows[0].Type() != field.Type {
				t.Fatalf("the table has no row for %s of %v, or not in this place", name, object)
			}
			rows = rows[1:]
		}
	}
	want(t, "rows without a field", len(rows), 0)
	seen := map[string]bool{}
	for _, o := range lipsync.OptionsAt(^lipsync.Scope(0)) {
		if seen[o.Name] || o.Label == "" || o.Schema == "" || (o.Meaning == "") != (o.Values != nil && o.Values[0].Meaning != "") {
			t.Errorf("%s: it comes twice, or lacks words", o.Name)
		}
		seen[o.Name] = true
	}
}

// TestOptions reads the names of options, and one that does not exist.
func TestOptions(t *testing.T) {
	var o lipsync.Options
	for _, c := range []struct {
		option encoding.TextUnmarshaler
		names  []string // in the order of their values
		value  func() int
		refuse string
	}{
		{&o.SyncMode, []string{"bounce", "loop", "cut_off", "silence", "remap"}, func() int { return int(o.SyncMode) },
			"sync_mode must be one of: bounce, loop, cut_off, silence, remap"},
		{&o.Silence, []string{"rest", "keep"}, func() int { return int(o.Silence) }, "silence must be one of: rest, keep"},
		{&o.NoFace, []string{"keep", "fail"}, func() int { return int(o.NoFace) }, "no_face must be one of: keep, fail"},
	} {
		for i, name := range c.names {
			must(t, c.option.UnmarshalText([]byte(name)))
			want(t, name, c.value(), i)
		}
		for _, name := range []string{"", "Bounce", "reste"} {
			wantError(t, name, c.option.UnmarshalText([]byte(name)), lipsync.Invalid, c.refuse)
		}
	}
	want(t, "values", o, lipsync.Options{SyncMode: lipsync.Remap, Silence: lipsync.KeepSilent, NoFace: lipsync.FailFaceless})
}

// TestSoundOptions reads gains and a switch as a client sends them, and refuses others.
func TestSoundOptions(t *testing.T) {
	for text, o := range map[string]lipsync.Options{
		`{"voice_gain":1,"original_gain":0,"duck":false}`:       {},
		`{"voice_gain":null,"original_gain":null,"duck":null}`:  {},
		`{"voice_gain":0,"original_gain":2}`:                    {VoiceGain: -1, OriginalGain: 2},
		`{"voice_gain":1.5e0,"original_gain":0.25,"duck":true}`: {VoiceGain: .5, OriginalGain: .25, Duck: true},
		`{"original_gain":0.12345}`:                             {OriginalGain: .123},
	} {
		var got lipsync.Options
		must(t, json.Unmarshal([]byte(text), &got))
		want(t, text, got, o)
	}
	const voice, original, duck = "voice_gain must be a number from 0 to 2", "original_gain must be a number from 0 to 2", "duck must be true or false"
	for text, sentence := range map[string]string{
		`{"voice_gain":2.001}`:  voice,
		`{"voice_gain":-0.001}`: voice,
		`{"voice_gain":"1"}`:    voice,
		`{"voice_gain":true}`:   voice,
		`{"voice_gain":1e999}`:  voice,
		`{"original_gain":[1]}`: original,
		`{"original_gain":3}`:   original,
		`{"duck":"true"}`:       duck,
		`{"duck":1}`:            duck,
		`{"duck":{}}`:           duck,
	} {
		var o lipsync.Options
		wantError(t, text, json.Unmarshal([]byte(text), &o), lipsync.Invalid, sentence)
	}
	var o lipsync.Options
	for name, values := range map[string][]string{"voice_gain": {"", "NaN", "Inf", "one"}, "original_gain": {"", "-1"}, "duck": {"", "on"}} {
		for _, value := range values {
			if err := o.Set(name, value); lipsync.CodeOf(err) != lipsync.Invalid {
				t.Errorf("%s %q: got %v, want it refused", name, value, err)
			}
		}
	}
	must(t, o.Set("voice_gain", "0.5"))
	must(t, o.Set("duck", "true"))
	want(t, "set by names", o, lipsync.Options{VoiceGain: -.5, Duck: true})
}

// TestPreview reads previews as a client sends them, and refuses others.
func TestPreview(t *testing.T) {
	preview := func(start, length time.Duration) lipsync.Options {
		return lipsync.Options{Preview: lipsync.Preview{Start: start, Length: length}}
	}
	for text, o := range map[string]lipsync.Options{
		`{"preview":null}`:                            {},
		`{"preview":{"start":0,"seconds":1}}`:         preview(0, time.Second),
		`{"preview":{"seconds":2.5,"start":90.0004}}`: preview(90*time.Second, 2500*time.Millisecond),
		`{"preview":{"start":86400,"seconds":1e-3}}`:  preview(24*time.Hour, time.Millisecond),
	} {
		var got lipsync.Options
		must(t, json.Unmarshal([]byte(text), &got))
		want(t, text, got, o)
		again, err := lipsync.ParseOptions(got.Text())
		must(t, err)
		want(t, text+", stored", again, o)
	}
	const sentence = "preview must be start and seconds: numbers from 0 to 86400, seconds at least 0.001"
	for _, text := range []string{
		`{"start":1}`, `{"seconds":1}`, `{"start":1,"seconds":0}`, `{"start":1,"seconds":0.0009}`, `{"start":-1,"seconds":1}`, `{"start":1,"seconds":86401}`, `{"start":1,"seconds":null}`,
		`{"start":"1","seconds":1}`, `{"start":1,"seconds":1,"x":1}`, `{"Start":1,"seconds":1}`, `"1,1"`, `[1,1]`, `1`, `true`, `{}`,
	} {
		var o lipsync.Options
		wantError(t, text, json.Unmarshal([]byte(`{"preview":`+text+`}`), &o), lipsync.Invalid, sentence)
	}
	var o lipsync.Options
	for _, text := range []string{"", "1", ",", "1,", ",1", "1,2,3", "NaN,1", "0,Inf", "a,b"} {
		wantError(t, text, o.Set("preview", text), lipsync.Invalid, sentence)
	}
	must(t, o.Set("preview", "1.5, 2"))
	want(t, "set", o.Preview.String(), "1.5,2")
}

// TestFace reads choices of a face as a client sends them, and refuses others.
func TestFace(t *testing.T) {
	at := lipsync.Options{Face: lipsync.Face{By: lipsync.FaceAt, Frame: 120, X: 640, Y: 360}}
	boxes := lipsync.Options{Face: lipsync.Face{By: lipsync.FaceInBoxes, Boxes: "https://example.com/boxes?a=1,2,3"}}
	for text, o := range map[string]lipsync.Options{
		`{"face":null}`:   {},
		`{"face":"auto"}`: {},
		`{"face":{"frame":120,"point":[640,360]}}`:             at,
		`{"face":{"id":"120,640,360"}}`:                        at,
		`{"face":{"point":[639.5,360.4],"frame":1.2e2}}`:       at,
		`{"face":{"frame":0,"point":[0,0]}}`:                   {Face: lipsync.Face{By: lipsync.FaceAt}},
		`{"face":{"boxes_url":"` + boxes.Face.Boxes + `"}}`:    boxes,
		`{"face":{"frame":99999999,"point":[99999,99999]}}`:    {Face: lipsync.Face{By: lipsync.FaceAt, Frame: 99999999, X: 99999, Y: 99999}},
		`{"face":{"boxes_url":"http://example.com/a\u0026b"}}`: {Face: lipsync.Face{By: lipsync.FaceInBoxes, Boxes: "http://example.com/a&b"}},
	} {
		var got lipsync.Options
		must(t, json.Unmarshal([]byte(text), &got))
		want(t, text, got, o)
		again, err := lipsync.ParseOptions(got.Text())
		must(t, err)
		want(t, text+", stored", again, o)
		must(t, got.Set("face", o.Face.String()))
		want(t, text+", as text", got, o)
	}
	const sentence = "face must be auto, id, frame and point [x, y] with numbers from 0, or boxes_url"
	for _, text := range []string{
		`"Auto"`, `""`, `"1,2,3"`, `"https://example.com"`, `true`, `1`, `[]`, `{}`, `{"frame":1}`, `{"point":[1,1]}`, `{"frame":1,"point":[1]}`, `{"frame":1,"point":[1,2,3]}`,
		`{"frame":-1,"point":[1,1]}`, `{"frame":1,"point":[1,-1]}`, `{"frame":1,"point":[1,1e5]}`, `{"frame":1e8,"point":[1,1]}`, `{"frame":null,"point":[1,1]}`,
		`{"frame":1,"point":[null,1]}`, `{"frame":"1","point":[1,1]}`, `{"boxes_url":""}`, `{"boxes_url":1}`, `{"boxes_url":"auto"}`, `{"id":"auto"}`, `{"id":"1,2"}`, `{"id":"http://a,b,c/"}`, `{"id":null}`, `{"id":"1,1,1","frame":1}`, `{"boxes_url":"a","frame":1,"point":[1,1]}`, `{"box":1}`,
	} {
		var o lipsync.Options
		wantError(t, text, json.Unmarshal([]byte(`{"face":`+text+`}`), &o), lipsync.Invalid, sentence)
	}
	var o lipsync.Options
	for _, text := range []string{"", "1", "1,2", "1,2,3,4", "a,b,c", "NaN,1,1"} {
		wantError(t, text, o.Set("face", text), lipsync.Invalid, sentence)
	}
	const rule = "boxes_url must be an absolute http or https URL with a host, no user name and at most 8192 bytes"
	for _, text := range []string{`"ftp://example.com/a"`, `"https://user@example.com/a"`, `"http://"`, `"upload://0"`} {
		wantError(t, text, json.Unmarshal([]byte(`{"face":{"boxes_url":`+text+`}}`), &o), lipsync.Invalid, rule)
	}
}

// TestMask reads masks as a client sends them, and refuses others.
func TestMask(t *testing.T) {
	mask := func(feather, expand lipsync.MaskFactor) lipsync.Options {
		return lipsync.Options{Mask: lipsync.Mask{Feather: feather, Expand: expand}}
	}
	for text, c := range map[string]struct {
		o      lipsync.Options
		stored string
	}{
		`{"mask":null}`:                            {},
		`{"mask":{}}`:                              {},
		`{"mask":{"feather":1,"expand":1.0004}}`:   {},
		`{"mask":{"feather":null,"expand":1.1}}`:   {mask(0, 100), `{"mask":{"expand":1.1}}`},
		`{"mask":{"feather":0.25}}`:                {mask(-750, 0), `{"mask":{"feather":0.25}}`},
		`{"mask":{"expand":85e-2,"feather":2}}`:    {mask(1000, -150), `{"mask":{"feather":2,"expand":0.85}}`},
		`{"mask":{"expand":1.25,"feather":0.333}}`: {mask(-667, 250), `{"mask":{"feather":0.333,"expand":1.25}}`},
	} {
		var got lipsync.Options
		must(t, json.Unmarshal([]byte(text), &got))
		want(t, text, got, c.o)
		want(t, text+", stored", got.Text(), c.stored)
		again, err := lipsync.ParseOptions(got.Text())
		must(t, err)
		want(t, text+", read again", again, c.o)
		must(t, again.Set("mask", c.o.Mask.String()))
		want(t, text+", as text", again, c.o)
	}
	const sentence = "mask must be feather, a number from 0.25 to 2, and expand, a number from 0.85 to 1.25"
	for _, text := range []string{
		`{"feather":0.249}`, `{"feather":2.001}`, `{"expand":0.849}`, `{"expand":1.251}`, `{"expand":0}`, `{"expand":-1}`, `{"expand":1e999}`, `{"expand":"1"}`, `{"expand":true}`,
		`{"Expand":1}`, `{"expand":1,"x":1}`, `{"x":null}`, `"1,1"`, `[1,1]`, `1`, `true`,
	} {
		var o lipsync.Options
		wantError(t, text, json.Unmarshal([]byte(`{"mask":`+text+`}`), &o), lipsync.Invalid, sentence)
	}
	var o lipsync.Options
	for _, text := range []string{"", "1", ",", "1,", ",1", "1,1,1", "NaN,1", "1,NaN", "Inf,1", "a,b"} {
		wantError(t, text, o.Set("mask", text), lipsync.Invalid, sentence)
	}
	must(t, o.Set("mask", "0.5, 1.2"))
	want(t, "set", o.Mask.String(), "0.5,1.2")
	want(t, "default", lipsync.Mask{}.String(), "1,1")
}

// TestMaskEdge checks that the part within the edge of a mask grows only by expand, and that the default changes no bit.
func TestMaskEdge(t *testing.T) {
	for m, part := range map[lipsync.Mask]float32{
		{}: .7, {Feather: -750}: .7, {Feather: 1000}: .7, {Expand: 250}: .875, {Feather: 1000, Expand: -150}: .595,
	} {
		size, edge := m.Edge(.3)
		if got := size * (1 - edge); got < part-1e-5 || got > part+1e-5 {
			t.Errorf("%v: %g within the edge, want %g", m, got, part)
		}
		if got, want := size*edge, .3*float32(m.Feather.Factor()*m.Expand.Factor()); got < want-1e-5 || got > want+1e-5 {
			t.Errorf("%v: an edge of %g, want %g", m, got, want)
		}
	}
	for _, usual := range []float32{.3, .25, .4} {
		if size, edge := (lipsync.Mask{}).Edge(usual); size != 1 || edge != usual {
			t.Errorf("got %g and %g, want 1 and %g", size, edge, usual)
		}
	}
}

// TestOptionsAsText stores options as text. It reads what a newer version stored, as far as it knows
// it, and refuses anything else than an object.
func TestOptionsAsText(t *testing.T) {
	for text, o := range map[string]lipsync.Options{
		"":                                       {},
		`{"sync_mode":"loop"}`:                   {SyncMode: lipsync.Loop},
		`{"silence":"keep","no_face":"fail"}`:    {Silence: lipsync.KeepSilent, NoFace: lipsync.FailFaceless},
		`{"sync_mode":"remap","silence":"keep"}`: {SyncMode: lipsync.Remap, Silence: lipsync.KeepSilent},
		`{"voice_gain":0.3,"original_gain":0.05}`: {VoiceGain: .3 - 1, OriginalGain: .05},
		`{"voice_gain":2,"duck":true}`:            {VoiceGain: 1, Duck: true},
	} {
		want(t, "text", o.Text(), text)
		got, err := lipsync.ParseOptions(text)
		must(t, err)
		want(t, text, got, o)
	}
	got, err := lipsync.ParseOptions(`{"sync_mode":"of a newer version","silence":"keep","voice_gain":"x","duck":null,"newer":"x","new":true,"other":{"a":[1]}}`)
	must(t, err)
	want(t, "of a newer version", got, lipsync.Options{Silence: lipsync.KeepSilent})
	if _, err := lipsync.ParseOptions("x"); err == nil {
		t.Error("got no error for what is no object")
	}
}

// FuzzOptions reads options of clients. What it accepts stays the same when it is stored.
func FuzzOptions(f *testing.F) {
	for _, text := range []string{`{}`, `null`, `{"sync_mode":"loop","silence":null}`, `{"no_face":"fail","x":1}`, `{"voice_gain":0.3,"original_gain":1e-3,"duck":true}`, `{"voice_gain":-0}`, `{"preview":{"start":0.1,"seconds":2e3}}`, `{"face":{"frame":7,"point":[1,2e1]}}`, `{"face":{"boxes_url":"http://a/b"}}`, `{"mask":{"feather":0.3,"expand":1.1}}`, `{"mask":{"expand":null}}`, `[{}]`, `{"silence":7}`, `{"` + strings.Repeat(`\udbff\udfff`, 40) + `":1}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var o lipsync.Options
		if err := json.Unmarshal(text, &o); err != nil {
			if e, ok := errors.AsType[*lipsync.Error](err); ok && (e.Code != lipsync.Invalid || len(e.Message) > 500) {
				t.Errorf("got %v", err)
			}
			return
		}
		if got, err := lipsync.ParseOptions(o.Text()); err != nil || !reflect.DeepEqual(got, o) {
			t.Errorf("got %+v (%v), want %+v", got, err, o)
		}
	})
}

func TestWarnings(t *testing.T) {
	var none lipsync.Warnings
	want(t, "number of no warnings", len(none.Texts()), 0)
	w := none.With("of_a_newer_version").With(lipsync.ConvertedHDR)
	want(t, "codes", w, "of_a_newer_version converted_hdr")
	texts := w.Texts()
	want(t, "number of texts", len(texts), 1)
	want(t, "text", texts[0], "HDR input was converted to SDR")
	want(t, "provenance", lipsync.Request{Warnings: w}.Provenance(), "")
	signed := w.With(lipsync.Signed)
	want(t, "provenance of a signed one", lipsync.Request{Warnings: signed}.Provenance(), "c2pa")
	want(t, "texts of a signed one", len(signed.Texts()), 1)
}
