package order_test

import (
	"encoding"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/test/check"
)

// TestTable checks that the table has each option and each field of an output, by the name in JSON and of the type that the field has, and
// that no two share a flag or a field of the form.
func TestTable(t *testing.T) {
	rows := slices.Concat(order.OptionsAt(order.OfRequest), order.OptionsAt(order.OfOutput))
	for _, object := range []reflect.Type{reflect.TypeFor[order.Options](), reflect.TypeFor[order.Output]()} {
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
	check.Want(t, "rows without a field", len(rows), 0)
	seen := map[string]bool{}
	for _, o := range order.OptionsAt(^order.Scope(0)) {
		if seen[o.Name] || o.Label == "" || o.Schema == "" || (o.Meaning == "") != (o.Values != nil && o.Values[0].Meaning != "") {
			t.Errorf("%s: it comes twice, or lacks words", o.Name)
		}
		if _, factor := o.Type().MethodByName("Factor"); factor {
			_, err := strconv.ParseFloat(o.Default, 64)
			check.Must(t, err)
		}
		seen[o.Name] = true
	}
}

// TestOptions reads the names of options, and one that does not exist.
func TestOptions(t *testing.T) {
	var o order.Options
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
			check.Must(t, c.option.UnmarshalText([]byte(name)))
			check.Want(t, name, c.value(), i)
		}
		for _, name := range []string{"", "Bounce", "reste"} {
			check.Error(t, name, c.option.UnmarshalText([]byte(name)), failure.Invalid, c.refuse)
		}
	}
	check.Want(t, "values", o, order.Options{SyncMode: order.Remap, Silence: order.KeepSilent, NoFace: order.FailFaceless})
}

// TestSoundOptions reads gains and a switch as a client sends them, and refuses others.
func TestSoundOptions(t *testing.T) {
	for text, o := range map[string]order.Options{
		`{"voice_gain":1,"original_gain":0,"duck":false}`:       {},
		`{"voice_gain":null,"original_gain":null,"duck":null}`:  {},
		`{"voice_gain":0,"original_gain":2}`:                    {VoiceGain: -1, OriginalGain: 2},
		`{"voice_gain":1.5e0,"original_gain":0.25,"duck":true}`: {VoiceGain: .5, OriginalGain: .25, Duck: true},
		`{"original_gain":0.12345}`:                             {OriginalGain: .123},
	} {
		var got order.Options
		check.Must(t, json.Unmarshal([]byte(text), &got))
		check.Want(t, text, got, o)
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
		var o order.Options
		check.Error(t, text, json.Unmarshal([]byte(text), &o), failure.Invalid, sentence)
	}
	var o order.Options
	for name, values := range map[string][]string{"voice_gain": {"", "NaN", "Inf", "one"}, "original_gain": {"", "-1"}, "duck": {"", "on"}} {
		for _, value := range values {
			if err := o.Set(name, value); failure.CodeOf(err) != failure.Invalid {
				t.Errorf("%s %q: got %v, want it refused", name, value, err)
			}
		}
	}
	check.Must(t, o.Set("voice_gain", "0.5"))
	check.Must(t, o.Set("duck", "true"))
	check.Want(t, "set by names", o, order.Options{VoiceGain: -.5, Duck: true})
}

// TestPreview reads previews as a client sends them, and refuses others.
func TestPreview(t *testing.T) {
	preview := func(start, length time.Duration) order.Options {
		return order.Options{Preview: order.Preview{Start: start, Length: length}}
	}
	for text, o := range map[string]order.Options{
		`{"preview":null}`:                            {},
		`{"preview":{"start":0,"seconds":1}}`:         preview(0, time.Second),
		`{"preview":{"seconds":2.5,"start":90.0004}}`: preview(90*time.Second, 2500*time.Millisecond),
		`{"preview":{"start":86400,"seconds":1e-3}}`:  preview(24*time.Hour, time.Millisecond),
	} {
		var got order.Options
		check.Must(t, json.Unmarshal([]byte(text), &got))
		check.Want(t, text, got, o)
		again, err := order.ParseOptions(got.Text())
		check.Must(t, err)
		check.Want(t, text+", stored", again, o)
	}
	const sentence = "preview must be start and seconds: numbers from 0 to 86400, seconds at least 0.001"
	for _, text := range []string{
		`{"start":1}`, `{"seconds":1}`, `{"start":1,"seconds":0}`, `{"start":1,"seconds":0.0009}`, `{"start":-1,"seconds":1}`, `{"start":1,"seconds":86401}`, `{"start":1,"seconds":null}`,
		`{"start":"1","seconds":1}`, `{"start":1,"seconds":1,"x":1}`, `{"Start":1,"seconds":1}`, `"1,1"`, `[1,1]`, `1`, `true`, `{}`,
	} {
		var o order.Options
		check.Error(t, text, json.Unmarshal([]byte(`{"preview":`+text+`}`), &o), failure.Invalid, sentence)
	}
	var o order.Options
	for _, text := range []string{"", "1", ",", "1,", ",1", "1,2,3", "NaN,1", "0,Inf", "a,b"} {
		check.Error(t, text, o.Set("preview", text), failure.Invalid, sentence)
	}
	check.Must(t, o.Set("preview", "1.5, 2"))
	check.Want(t, "set", o.Preview.String(), "1.5,2")
}

// TestFace reads choices of a face as a client sends them, and refuses others.
func TestFace(t *testing.T) {
	at := order.Options{Face: order.Face{By: order.FaceAt, Frame: 120, X: 640, Y: 360}}
	boxes := order.Options{Face: order.Face{By: order.FaceInBoxes, Boxes: "https://example.com/boxes?a=1,2,3"}}
	for text, o := range map[string]order.Options{
		`{"face":null}`:   {},
		`{"face":"auto"}`: {},
		`{"face":{"frame":120,"point":[640,360]}}`:             at,
		`{"face":{"id":"120,640,360"}}`:                        at,
		`{"face":{"point":[639.5,360.4],"frame":1.2e2}}`:       at,
		`{"face":{"frame":0,"point":[0,0]}}`:                   {Face: order.Face{By: order.FaceAt}},
		`{"face":{"boxes_url":"` + boxes.Face.Boxes + `"}}`:    boxes,
		`{"face":{"frame":99999999,"point":[99999,99999]}}`:    {Face: order.Face{By: order.FaceAt, Frame: 99999999, X: 99999, Y: 99999}},
		`{"face":{"boxes_url":"http://example.com/a\u0026b"}}`: {Face: order.Face{By: order.FaceInBoxes, Boxes: "http://example.com/a&b"}},
	} {
		var got order.Options
		check.Must(t, json.Unmarshal([]byte(text), &got))
		check.Want(t, text, got, o)
		again, err := order.ParseOptions(got.Text())
		check.Must(t, err)
		check.Want(t, text+", stored", again, o)
		check.Must(t, got.Set("face", o.Face.String()))
		check.Want(t, text+", as text", got, o)
	}
	const sentence = `face must be auto, {"id"}, {"frame", "point": [x, y]} with numbers from 0, or {"boxes_url"}`
	for _, text := range []string{
		`"Auto"`, `""`, `"1,2,3"`, `"https://example.com"`, `true`, `1`, `[]`, `{}`, `{"frame":1}`, `{"point":[1,1]}`, `{"frame":1,"point":[1]}`, `{"frame":1,"point":[1,2,3]}`,
		`{"frame":-1,"point":[1,1]}`, `{"frame":1,"point":[1,-1]}`, `{"frame":1,"point":[1,1e5]}`, `{"frame":1e8,"point":[1,1]}`, `{"frame":null,"point":[1,1]}`,
		`{"frame":1,"point":[null,1]}`, `{"frame":"1","point":[1,1]}`, `{"boxes_url":""}`, `{"boxes_url":1}`, `{"boxes_url":"auto"}`, `{"id":"auto"}`, `{"id":"1,2"}`, `{"id":"http://a,b,c/"}`, `{"id":null}`, `{"id":"1,1,1","frame":1}`, `{"boxes_url":"a","frame":1,"point":[1,1]}`, `{"box":1}`,
	} {
		var o order.Options
		check.Error(t, text, json.Unmarshal([]byte(`{"face":`+text+`}`), &o), failure.Invalid, sentence)
	}
	var o order.Options
	for _, text := range []string{"", "1", "1,2", "1,2,3,4", "a,b,c", "NaN,1,1"} {
		check.Error(t, text, o.Set("face", text), failure.Invalid, sentence)
	}
	const rule = "boxes_url must be an absolute http or https URL with a host, no user name and at most 8192 bytes"
	for _, text := range []string{`"ftp://example.com/a"`, `"https://user@example.com/a"`, `"http://"`, `"upload://0"`} {
		check.Error(t, text, json.Unmarshal([]byte(`{"face":{"boxes_url":`+text+`}}`), &o), failure.Invalid, rule)
	}
}

// TestMask reads masks as a client sends them, and refuses others.
func TestMask(t *testing.T) {
	mask := func(feather, expand order.MaskFactor) order.Options {
		return order.Options{Mask: order.Mask{Feather: feather, Expand: expand}}
	}
	for text, c := range map[string]struct {
		o      order.Options
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
		var got order.Options
		check.Must(t, json.Unmarshal([]byte(text), &got))
		check.Want(t, text, got, c.o)
		check.Want(t, text+", stored", got.Text(), c.stored)
		again, err := order.ParseOptions(got.Text())
		check.Must(t, err)
		check.Want(t, text+", read again", again, c.o)
		check.Must(t, again.Set("mask", c.o.Mask.String()))
		check.Want(t, text+", as text", again, c.o)
	}
	const sentence = "mask must be feather, a number from 0.25 to 2, and expand, a number from 0.85 to 1.25"
	for _, text := range []string{
		`{"feather":0.249}`, `{"feather":2.001}`, `{"expand":0.849}`, `{"expand":1.251}`, `{"expand":0}`, `{"expand":-1}`, `{"expand":1e999}`, `{"expand":"1"}`, `{"expand":true}`,
		`{"Expand":1}`, `{"expand":1,"x":1}`, `{"x":null}`, `"1,1"`, `[1,1]`, `1`, `true`,
	} {
		var o order.Options
		check.Error(t, text, json.Unmarshal([]byte(`{"mask":`+text+`}`), &o), failure.Invalid, sentence)
	}
	var o order.Options
	for _, text := range []string{"", "1", ",", "1,", ",1", "1,1,1", "NaN,1", "1,NaN", "Inf,1", "a,b"} {
		check.Error(t, text, o.Set("mask", text), failure.Invalid, sentence)
	}
	check.Must(t, o.Set("mask", "0.5, 1.2"))
	check.Want(t, "set", o.Mask.String(), "0.5,1.2")
	check.Want(t, "default", order.Mask{}.String(), "1,1")
}

// TestMaskEdge checks that the part within the edge of a mask grows only by expand, and that the default changes no bit.
func TestMaskEdge(t *testing.T) {
	for m, part := range map[order.Mask]float32{
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
		if size, edge := (order.Mask{}).Edge(usual); size != 1 || edge != usual {
			t.Errorf("got %g and %g, want 1 and %g", size, edge, usual)
		}
	}
}

// TestOptionsAsText stores options as text. It reads what a newer version stored, as far as it knows
// it, and refuses anything else than an object.
func TestOptionsAsText(t *testing.T) {
	for text, o := range map[string]order.Options{
		"":                                       {},
		`{"sync_mode":"loop"}`:                   {SyncMode: order.Loop},
		`{"silence":"keep","no_face":"fail"}`:    {Silence: order.KeepSilent, NoFace: order.FailFaceless},
		`{"sync_mode":"remap","silence":"keep"}`: {SyncMode: order.Remap, Silence: order.KeepSilent},
		`{"voice_gain":0.3,"original_gain":0.05}`: {VoiceGain: .3 - 1, OriginalGain: .05},
		`{"voice_gain":2,"duck":true}`:            {VoiceGain: 1, Duck: true},
	} {
		check.Want(t, "text", o.Text(), text)
		got, err := order.ParseOptions(text)
		check.Must(t, err)
		check.Want(t, text, got, o)
	}
	got, err := order.ParseOptions(`{"sync_mode":"of a newer version","silence":"keep","voice_gain":"x","duck":null,"newer":"x","new":true,"other":{"a":[1]}}`)
	check.Must(t, err)
	check.Want(t, "of a newer version", got, order.Options{Silence: order.KeepSilent})
	if _, err := order.ParseOptions("x"); err == nil {
		t.Error("got no error for what is no object")
	}
}

// FuzzOptions reads options of clients. What it accepts stays the same when it is stored.
func FuzzOptions(f *testing.F) {
	for _, text := range []string{`{}`, `null`, `{"sync_mode":"loop","silence":null}`, `{"no_face":"fail","x":1}`, `{"voice_gain":0.3,"original_gain":1e-3,"duck":true}`, `{"voice_gain":-0}`, `{"preview":{"start":0.1,"seconds":2e3}}`, `{"face":{"frame":7,"point":[1,2e1]}}`, `{"face":{"boxes_url":"http://a/b"}}`, `{"mask":{"feather":0.3,"expand":1.1}}`, `{"mask":{"expand":null}}`, `[{}]`, `{"silence":7}`, `{"` + strings.Repeat(`\udbff\udfff`, 40) + `":1}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var o order.Options
		if err := json.Unmarshal(text, &o); err != nil {
			if e, ok := errors.AsType[*failure.Error](err); ok && (e.Code != failure.Invalid || len(e.Message) > 500) {
				t.Errorf("got %v", err)
			}
			return
		}
		if got, err := order.ParseOptions(o.Text()); err != nil || !reflect.DeepEqual(got, o) {
			t.Errorf("got %+v (%v), want %+v", got, err, o)
		}
	})
}

func TestWarnings(t *testing.T) {
	var none order.Warnings
	check.Want(t, "number of no warnings", len(none.Texts()), 0)
	w := none.With("of_a_newer_version").With(order.ConvertedHDR)
	check.Want(t, "codes", w, "of_a_newer_version converted_hdr")
	texts := w.Texts()
	check.Want(t, "number of texts", len(texts), 1)
	check.Want(t, "text", texts[0], "HDR input was converted to SDR")
	ignored := order.IgnoredFields([]string{"refrence_id", "a b\n\"ü"}).With(order.DroppedSound)
	if got, want := ignored.Texts(), []string{`field "refrence_id" of the request was ignored`, `field "a b\n\"ü" of the request was ignored`,
		"the video's own sound is not heard: option original_gain adds it"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	check.Want(t, "provenance", lipsync.Request{Warnings: w}.Provenance(), "")
	signed := w.With(order.Signed)
	check.Want(t, "provenance of a signed one", lipsync.Request{Warnings: signed}.Provenance(), "c2pa")
	check.Want(t, "texts of a signed one", len(signed.Texts()), 1)
}
