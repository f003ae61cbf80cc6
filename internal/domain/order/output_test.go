package order_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/test/check"
)

// TestOutput reads outputs as a client sends them, and stores them with the options.
func TestOutput(t *testing.T) {
	for text, o := range map[string]order.Output{
		`null`: {},
		`{}`:   {},
		`{"format":null,"codec":null,"quality":null,"fps":null,"width":null,"file_name":null,"upload_url":null}`: {},
		`{"format":"mp4","codec":"h264","quality":"source","fps":"source"}`:                                      {},
		`{"format":"webm","codec":"vp9"}`:                      {Format: order.WebM},
		`{"codec":"hevc","quality":"low"}`:                     {Codec: order.HEVC, Quality: order.Low},
		`{"codec":"vp9","quality":"medium"}`:                   {Codec: order.VP9, Quality: order.Medium},
		`{"format":"mov","codec":"prores"}`:                    {Format: order.MOV, Codec: order.ProRes},
		`{"fps":29.97,"width":1280}`:                           {FPS: 29970, Width: 1280},
		`{"fps":29.97002997,"width":1.6e1}`:                    {FPS: 29970, Width: 16},
		`{"fps":120,"width":4096.0,"file_name":"ü \"1\".mp4"}`: {FPS: 120000, Width: 4096, FileName: `ü "1".mp4`},
		`{"upload_url":"https://a.example/b?c=d&e=%20"}`:       {UploadURL: "https://a.example/b?c=d&e=%20"},
		`{"file_name":"` + strings.Repeat("ü", 255) + `"}`:     {FileName: order.FileName(strings.Repeat("ü", 255))},
	} {
		var got order.Output
		check.Must(t, json.Unmarshal([]byte(text), &got))
		check.Want(t, text, got, o)
		options := order.Options{Silence: order.KeepSilent, Output: got}
		again, err := order.ParseOptions(options.Text())
		check.Must(t, err)
		check.Want(t, text+", stored", again, options)
	}
	stored := order.Options{Output: order.Output{Format: order.MOV, Codec: order.ProRes, Quality: order.Low, FPS: 23976, Width: 64, FileName: "a"}}
	check.Want(t, "text", stored.Text(), `{"output":{"format":"mov","codec":"prores","quality":"low","fps":23.976,"width":64,"file_name":"a"}}`)
}

// TestOutputRefusals sends outputs that can't be used.
func TestOutputRefusals(t *testing.T) {
	const (
		format  = "format must be one of: mp4, mov, webm"
		codec   = "codec must be one of: h264, hevc, vp9, prores"
		quality = "quality must be one of: source, high, medium, low"
		fps     = "fps must be a number from 1 to 120, or source"
		width   = "width must be a whole number from 16 to 4096"
		url     = "upload_url must be an absolute http or https URL with a host, no user name and at most 8192 bytes"
		name    = "file_name must be 1 to 255 characters, without slashes and control characters"
	)
	for text, sentence := range map[string]string{
		`[]`:                               "output must be an object",
		`"mp4"`:                            "output must be an object",
		`{"x":null}`:                       `output has no field "x"; it has: format, codec, quality, fps, width, file_name, upload_url`,
		`{"format":"MP4"}`:                 format,
		`{"format":""}`:                    format,
		`{"format":1}`:                     format,
		`{"codec":"av1"}`:                  codec,
		`{"codec":""}`:                     codec,
		`{"codec":["h264"]}`:               codec,
		`{"quality":14}`:                   quality,
		`{"fps":0.999}`:                    fps,
		`{"fps":120.001}`:                  fps,
		`{"fps":"25"}`:                     fps,
		`{"fps":""}`:                       fps,
		`{"fps":true}`:                     fps,
		`{"fps":1e999}`:                    fps,
		`{"width":15}`:                     width,
		`{"width":4097}`:                   width,
		`{"width":100.5}`:                  width,
		`{"width":"100"}`:                  width,
		`{"width":"source"}`:               width,
		`{"width":{}}`:                     width,
		`{"file_name":""}`:                 name,
		`{"file_name":"a/b"}`:              name,
		`{"file_name":"a\\b"}`:             name,
		`{"file_name":"a\nb"}`:             name,
		`{"file_name":7}`:                  name,
		`{"upload_url":""}`:                url,
		`{"upload_url":7}`:                 url,
		`{"upload_url":"upload://a"}`:      url,
		`{"upload_url":"ftp://a/b"}`:       url,
		`{"upload_url":"https://a:b@c/d"}`: url,
		`{"upload_url":"https:///a"}`:      url,
		`{"upload_url":"https://a/` + strings.Repeat("a", 8192) + `"}`: url,
		`{"codec":"prores"}`:                               "codec must be one of those of format mp4: h264, hevc, vp9",
		`{"codec":"vp9","format":"mov"}`:                   "codec must be one of those of format mov: h264, hevc, prores",
		`{"codec":"h264","format":"webm"}`:                 "codec must be one of those of format webm: vp9",
		`{"codec":"hevc","format":"webm"}`:                 "codec must be one of those of format webm: vp9",
		`{"codec":"prores","format":"webm"}`:               "codec must be one of those of format webm: vp9",
		`{"file_name":"` + strings.Repeat("a", 256) + `"}`: name,
	} {
		var o order.Output
		check.Error(t, text, json.Unmarshal([]byte(text), &o), failure.Invalid, sentence)
	}
	var o order.Options
	for _, text := range []string{`{"output":{}}`, `{"output":null}`} {
		check.Error(t, text, json.Unmarshal([]byte(text), &o), failure.Invalid,
			`options has no field "output"; it has: `+order.NamesAt(order.OfRequest))
	}
}

// TestUploadOrigin checks that an origin holds no secret.
func TestUploadOrigin(t *testing.T) {
	for text, origin := range map[order.UploadURL]order.UploadURL{
		"": "", "HTTPS://A.example:81/secret?secret#secret": "https://A.example:81", "http://[::1]:80": "http://[::1]:80",
	} {
		check.Want(t, string(text), text.Origin(), origin)
	}
}

// TestOutputOfNewerVersion reads outputs that a newer version stored, as far as this one knows them.
func TestOutputOfNewerVersion(t *testing.T) {
	for text, o := range map[string]order.Output{
		`{"format":"mkv","codec":"prores","fps":"twice","width":8192,"quality":"low","loudness":-14}`: {Quality: order.Low},
		`{"format":"webm","codec":"av1"}`: {Format: order.WebM},
		`7`:                               {},
	} {
		got, err := order.ParseOptions(`{"sync_mode":"loop","output":` + text + `}`)
		check.Must(t, err)
		check.Want(t, text, got, order.Options{SyncMode: order.Loop, Output: o})
	}
}

// FuzzOutput reads outputs of clients. What it accepts stays the same when it is stored.
func FuzzOutput(f *testing.F) {
	for _, text := range []string{`{}`, `null`, `{"format":"webm","quality":"low"}`, `{"codec":"hevc","format":"mov","x":1}`, `{"fps":23.976,"width":1e3}`, `{"fps":"source","file_name":"\u0000"}`, `{"file_name":"<ü>.mp4"}`, `{"upload_url":"https://a.example/b?c=d&e"}`, `{"upload_url":"http://[::1%25]:x"}`, `[{}]`, `{"` + strings.Repeat(`\udbff\udfff`, 40) + `":1}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var o order.Output
		if err := json.Unmarshal(text, &o); err != nil {
			if e, ok := errors.AsType[*failure.Error](err); ok && (e.Code != failure.Invalid || len(e.Message) > 500) {
				t.Errorf("got %v", err)
			}
			return
		}
		if got, err := order.ParseOptions(order.Options{Output: o}.Text()); err != nil || got.Output != o {
			t.Errorf("got %+v (%v), want %+v", got, err, o)
		}
	})
}
