package hostile_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/domain/failure"
)

// playlists returns a file that names other media. Its file name does not reveal that.
func playlists(_ *testing.T, m *maker) (failure.MediaKind, []byte, string) {
	address, secret := m.address, m.secret
	lists := []struct{ name, text string }{
		{"HLS", fmt.Sprintf("#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile://%s\n#EXTINF:10,\nhttp://%s/a.ts\n#EXT-X-ENDLIST\n", secret, address)},
		{"ffconcat", fmt.Sprintf("ffconcat version 1.0\nfile '%s'\nfile 'http://%s/a'\n", secret, address)},
		{"SMIL", fmt.Sprintf("<smil><body><video src='file://%s'/><ref src='http://%s/'/></body></smil>", secret, address)},
		{"DASH", fmt.Sprintf("<?xml version='1.0'?><MPD xmlns='urn:mpeg:dash:schema:mpd:2011' type='static'><Period><AdaptationSet><Representation id='1' bandwidth='1'><BaseURL>http://%s/</BaseURL></Representation></AdaptationSet></Period></MPD>", address)},
		{"SDP", fmt.Sprintf("v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video %s RTP/AVP 96\na=rtpmap:96 H264/90000\n", address[strings.LastIndexByte(address, ':')+1:])},
		{"HLS of crypto and data", fmt.Sprintf("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXT-X-KEY:METHOD=AES-128,URI=\"http://%s/key\"\n#EXTINF:1,\nconcat:%s|%[2]s\n", address, secret)},
		{"HLS of variants", fmt.Sprintf("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nhttp://%s/v.m3u8\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"a\",URI=\"file://%s\"\n", address, secret)},
		{"PLS", fmt.Sprintf("[playlist]\nFile1=file://%s\nFile2=http://%s/\nNumberOfEntries=2\n", secret, address)},
		{"ASX", fmt.Sprintf("<ASX version='3.0'><ENTRY><REF HREF='http://%s/'/></ENTRY></ASX>", address)},
		{"SVG", fmt.Sprintf("<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'><image xlink:href='http://%s/'/></svg>", address)},
		{"IMF", fmt.Sprintf("<?xml version='1.0'?><CompositionPlaylist xmlns='http://www.smpte-ra.org/schemas/2067-3/2016'><Id>urn:uuid:%s</Id></CompositionPlaylist>", secret)},
		{"RTSP", fmt.Sprintf("RTSPtext\r\nrtsp://%s/a", address)},
		{"VobSub", fmt.Sprintf("# VobSub index file, v7 (do not modify this line!)\nid: en, index: 0\ntimestamp: 00:00:00:000, filepos: 0\n# %s\n", secret)},
		{"Filters", fmt.Sprintf("movie=%s[out0]", secret)},
	}
	list := lists[m.n%len(lists)]
	kind := []failure.MediaKind{failure.Video, failure.Audio}[m.IntN(2)]
	return kind, []byte(list.text), list.name
}

// references returns a valid file that names others.
func references(t *testing.T, m *maker) (failure.MediaKind, []byte, string) {
	url := []string{"file://" + m.secret, "http://" + m.address + "/a", m.secret, "secret.mp4"}[m.IntN(4)]
	pathOf := func(b []byte) []byte { // the data of all tracks are in another file
		for n := range 2 {
			p := find(t, b, "url ", n)
			b = splice(b, p.at, p.end, box("url ", big32(0), append([]byte(url), 0)))
		}
		return b
	}
	const v = failure.Video
	switch m.n % 6 {
	case 0:
		return v, pathOf(m.base(t, "mp4")), "MP4 with its data at " + url
	case 1: // an alias of QuickTime, with its name on 2 levels and its path
		name := append([]byte(m.secret), 0)
		if len(name)%2 > 0 {
			name = append(name, 0)
		}
		alias := slices.Concat(big32(0, 0), []byte{0, 0, 0, 2, 0, 0, 7}, make([]byte, 27), make([]byte, 12), []byte{6}, []byte("secret"), make([]byte, 57), make([]byte, 16),
			[]byte{0, 1, 0, 1}, make([]byte, 10), []byte{0, 2, 0, byte(len(name))}, name, []byte{0, 18, 0, byte(len(name))}, name, []byte{255, 255, 0, 0})
		b := m.base(t, "mov")
		for n := range 2 {
			p := find(t, b, "url ", n)
			b = splice(b, p.at, p.end, box("alis", alias))
		}
		return v, b, "QuickTime with an alias of a file"
	case 2:
		return v, slices.Concat(box("ftyp", []byte("qt  "), big32(0)), box("moov", box("rmra", box("rmda", box("rdrf", big32(0), []byte("url "), big32(uint32(len(url))), []byte(url)))))), "reference movie to " + url
	case 3: // Matroska that continues in other files
		b := m.base(t, "matroska")
		at := find(t, b, "1549A966", 0).end
		links := slices.Concat(element("\x3e\xb9\x23", make([]byte, 16)), element("\x3e\x83\xbb", []byte(url)), element("\x3c\x83\xab", []byte(url)), element("\x73\x84", []byte(url)))
		return v, splice(b, at, at, links), "Matroska that goes on in " + url
	case 4: // chapters, tags and encodings can name URLs too
		b := m.base(t, "matroska")
		at := find(t, b, "86", 0).end
		return v, splice(b, at, at, slices.Concat(element("\x3b\x40\x40", []byte(url)), element("\x26\xb2\x40", []byte(url)))), "Matroska with its decoder at " + url
	}
	b := m.base(t, "mp4 sound")
	p := find(t, b, "url ", 0)
	return failure.Audio, splice(b, p.at, p.end, box("urn ", big32(0), append([]byte("a\x00"+url), 0))), "MP4 with its data by the name " + url
}

// polyglots returns a file of two formats, or one that begins as one format and continues as
// another.
func polyglots(t *testing.T, m *maker) (failure.MediaKind, []byte, string) {
	hls := fmt.Appendf(nil, "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nhttp://%s/a.ts\n#EXTINF:10,\nfile://%s\n", m.address, m.secret)
	concat := fmt.Appendf(nil, "ffconcat version 1.0\nfile '%s'\n", m.secret)
	html := fmt.Appendf(nil, "<!DOCTYPE html><script src='http://%s/'></script>\n", m.address)
	firsts := []struct {
		name    string
		content []byte
	}{
		{"HLS", hls}, {"ID3", []byte("ID3\x04\x00\x00\x00\x00\x00\x00")}, {"ffconcat", concat}, {"RIFF", []byte("RIFF\xff\xff\xff\xffWAVE")},
		{"MP4", box("ftyp", []byte("isom"), big32(512))}, {"HTML", html}, {"ZIP", []byte("PK\x03\x04\x14\x00\x00\x00\x00\x00")}, {"PDF", []byte("%PDF-1.7\n")},
		{"Matroska", []byte("\x1a\x45\xdf\xa3\x8b\x42\x82\x88matroska")}, {"Ogg", []byte("OggS\x00\x02")}, {"GIF", []byte("GIF89a\x01\x00\x01\x00")}, {"shell", []byte("#!/bin/sh\nexit\n")},
	}
	first := firsts[m.n%len(firsts)]
	base := []string{"mp4", "matroska", "avi", "mp3", "wav", "ogg", "mpegts"}[m.IntN(7)]
	b := m.base(t, base)
	how := first.name + " and " + base
	switch m.IntN(3) {
	case 0:
		return kindOf(base), slices.Concat(first.content, b), how
	case 1:
		return kindOf(base), slices.Concat(b, first.content), base + " and " + first.name
	}
	// MP4 readers skip the content of a free box, so the text begins at byte eight.
	return kindOf(base), slices.Concat(box("free", first.content), b), how + " in a free box"
}

// foreign returns a valid file of an unsupported format.
func foreign(t *testing.T, m *maker) (failure.MediaKind, []byte, string) {
	kind := []failure.MediaKind{failure.Video, failure.Audio}[m.IntN(2)]
	bases := []string{"mpeg", "nut", "mxf", "h264", "yuv4mpegpipe", "au"}
	texts := []string{
		"1\n00:00:00,000 --> 00:00:05,000\nHello\n", "[Script Info]\n[V4+ Styles]\nDialogue: 0,0:00:00.00,0:00:05.00,,,0,0,0,,Hello\n",
		"MThd\x00\x00\x00\x06\x00\x01\x00\x01\x00\x60MTrk", "\x7fELF\x02\x01\x01", "<html><body>", "P6 2 2 255 123412341234", "SIMPLE  =                    T",
		";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1\nSTART=0\nEND=10\n", "{\"inputs\":[]}", "\x1f\x8b\x08\x00\x00\x00\x00\x00",
	}
	images := []string{"mjpeg", "png", "bmp", "tiff", "targa"}
	n := m.n % (len(bases) + len(texts) + len(images))
	switch {
	case n < len(bases):
		return kind, m.base(t, bases[n]), bases[n]
	case n < len(bases)+len(texts):
		text := texts[n-len(bases)]
		return kind, []byte(text), fmt.Sprintf("%.20q", text)
	}
	image := images[n-len(bases)-len(texts)]
	return kind, m.lavfi(t, "testsrc2=s=64x64", "-frames:v", "1", "-c:v", image, "-f", "image2pipe"), image
}

// nothing returns an empty file, or only the beginning of a format.
func nothing(t *testing.T, m *maker) (failure.MediaKind, []byte, string) {
	noise := make([]byte, 1<<20)
	for i := range noise {
		noise[i] = byte(m.Uint32())
	}
	all := [][]byte{
		nil, {0}, make([]byte, 16<<20), noise, bytes.Repeat([]byte{0xff}, 1<<20), bytes.Repeat([]byte("\xff\xfb"), 1<<20), []byte("RIFF"), []byte("RIFF\x00\x00\x00\x00WAVE"),
		box("ftyp", []byte("isom"), big32(512)), []byte("\x1a\x45\xdf\xa3"), []byte("OggS"), []byte("fLaC"), []byte("ID3"), bytes.Repeat([]byte("OggS"), 100_000),
		bytes.Repeat(box("free"), 500_000), bytes.Repeat([]byte("\xff\xf1\x50\x80\x00\x1f\xfc"), 100_000),
	}
	n := m.n % len(all)
	return []failure.MediaKind{failure.Video, failure.Audio}[m.IntN(2)], all[n], fmt.Sprintf("%d bytes from %.8q on", len(all[n]), all[n])
}
