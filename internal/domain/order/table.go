package order

import "encoding"

// Options change how a request is rendered. The zero value of each field is its default, and is
// absent in JSON.
type Options struct {
	SyncMode     SyncMode       `json:"sync_mode,omitzero"`
	Silence      Silence        `json:"silence,omitzero"`
	NoFace       FacelessFrames `json:"no_face,omitzero"`
	VoiceGain    VoiceGain      `json:"voice_gain,omitzero"`
	OriginalGain OriginalGain   `json:"original_gain,omitzero"`
	Duck         Duck           `json:"duck,omitzero"`
	Preview      Preview        `json:"preview,omitzero"`
	Face         Face           `json:"face,omitzero"`
	Mask         Mask           `json:"mask,omitzero"`
	AudioTrack   AudioTrack     `json:"audio_track,omitzero"`
	VideoTrack   VideoTrack     `json:"video_track,omitzero"`

	// These are fields of their own in calls of clients.
	Output   Output   `json:"output,omitzero"`
	Segments Segments `json:"segments,omitzero"`

	// Unread says why the segments of a stored request can't be read: a newer version wrote them. It is nil if they can.
	Unread error `json:"-"`
}

// Output describes the file that a request makes. The zero value of each field is its default, and is
// absent in JSON.
type Output struct {
	Format   Format    `json:"format,omitzero"`
	Codec    Codec     `json:"codec,omitzero"`
	Quality  Quality   `json:"quality,omitzero"`
	FPS      FrameRate `json:"fps,omitzero"`
	Width    Width     `json:"width,omitzero"`
	FileName FileName  `json:"file_name,omitzero"`

	UploadURL UploadURL `json:"upload_url,omitzero"`
}

// The rows of the table of options. Each type of a value is in the file of its subject.
var (
	syncModeOption = Option{
		Name: "sync_mode", Group: InLength, Where: OfRequest | ToAssistants, Schema: "SyncMode",
		Values: []Value{
			{"bounce", "As the speech: forward, then backward", "the output is as long as the audio; a longer video is cut, a shorter one plays forward and backward"},
			{"loop", "As the speech: from the start again", "as `bounce`, but a shorter video starts again"},
			{"cut_off", "As the shorter of the two", "the output is as long as the shorter of the two"},
			{"silence", "As the longer of the two", "the output is as long as the longer of the two: silence follows a shorter audio, and a shorter video holds its last frame"},
			{"remap", "As the speech: faster or slower", "the output is as long as the audio; the video plays faster or slower, at most by a factor of 2, or else the request fails"},
		},
		Shown: []int{0, 1, 4, 2, 3},
		Label: "When video and speech differ in length",
		Flag:  "MODE",
		Help:  "Set the length of the output. bounce, the default: as the audio; a longer video is cut, a shorter one plays forward and backward. loop: as bounce, but a shorter video starts again. remap: as the audio; the video plays faster or slower, by a factor of 2 at most. cut_off: as the shorter of the two. silence: as the longer of the two; silence follows a shorter audio, and a shorter video holds its last frame.",
		About: "The rule for the length of the output. As long as the audio: `bounce` cuts a longer video, and plays a shorter one forward and\n" +
			"backward; `loop` starts a shorter one again; `remap` plays the video faster or slower, at most by a factor of 2,\n" +
			"or else the request fails. `cut_off`: as long as the shorter of the two. `silence`: as long as the longer of the\n" +
			"two; silence follows a shorter audio, and a shorter video holds its last frame.\n",
		field: func(o *Options) encoding.TextUnmarshaler { return &o.SyncMode },
	}
	silenceOption = Option{
		Name: "silence", Group: InSpeaker, Where: OfRequest | OfSegment | ToAssistants, Schema: "Silence",
		Values: []Value{
			{"rest", "The mouth rests", "the mouth rests while nobody speaks"},
			{"keep", "The mouth stays as in the video", "the mouth stays as in the video while nobody speaks"},
		},
		Label: "While nobody speaks", Tick: "Leave the mouth as it is while nobody speaks",
		Flag:  "MOUTH",
		Help:  "While nobody speaks, the mouth rests (rest, the default) or stays as in the video (keep).",
		About: "While nobody speaks, the mouth rests (`rest`), or stays as in the video (`keep`).",
		field: func(o *Options) encoding.TextUnmarshaler { return &o.Silence },
	}
	noFaceOption = Option{
		Name: "no_face", Group: InAdvanced, Where: OfRequest | BesideSegments | ToAssistants, Schema: "NoFace",
		Values: []Value{
			{"keep", "They stay as they are", "a frame without a face stays as it is"},
			{"fail", "The request fails", "a frame without a face makes the request fail. A video without any face always fails"},
		},
		Label: "Frames without a face",
		Flag:  "ACTION",
		Help:  "A frame without a face stays as it is (keep, the default), or there is no output (fail). A video without any face always fails.",
		About: "A frame without a face stays as it is (`keep`), or makes the request fail (`fail`). A video without any face\n" +
			"always fails.\n",
		field: func(o *Options) encoding.TextUnmarshaler { return &o.NoFace },
	}
	voiceGainOption = Option{
		Name: "voice_gain", Group: InSound, Where: OfRequest | OfSegment | ToAssistants, Schema: "VoiceGain",
		Shape: Number, Most: mostGain, Default: "1",
		Label: "Loudness of the speech",
		Flag:  "FACTOR",
		Help:  "Set a factor for the speech track, from 0 (silence) to 2 (default: 1).",
		Brief: "0 to 2",
		Takes: "0 to 2, default 1", Meaning: "a factor for the speech track: 0 is silence, 1 leaves it as loud as it is",
		About: "A factor for the speech track: 0 is silence, 1 leaves it as loud as it is. It is rounded to thousandths.\n",
		field: func(o *Options) encoding.TextUnmarshaler { return &o.VoiceGain },
	}
	originalGainOption = Option{
		Name: "original_gain", Group: InSound, Where: OfRequest | OfSegment | ToAssistants, Schema: "OriginalGain",
		Shape: Number, Most: mostGain, Default: "0",
		Label: "Keep the video’s own sound, such as music",
		Flag:  "FACTOR",
		Help:  "Keep the video's own sound, such as music, under the speech track: a factor from 0 (silence, the default) to 2.",
		Brief: "0 to 2",
		Takes: "0 to 2, default 0", Meaning: "the same for the video's own sound, to keep music and ambience",
		About: "A factor for the video's own sound: 0 is silence, 1 leaves it as loud as it is. Above 0, it is mixed with the\n" +
			"speech track at 48 kHz, and the output has the video's channels. It is rounded to thousandths.\n",
		field: func(o *Options) encoding.TextUnmarshaler { return &o.OriginalGain },
	}
	duckOption = Option{
		Name: "duck", Group: InSound, Where: OfRequest | ToAssistants, Schema: "Duck",
		Shape: Switch, Values: []Value{{"false", "As loud as elsewhere", ""}, {"true", "Lowered", ""}},
		Label: "The video’s own sound under the speech", Tick: "Lower it while somebody speaks",
		Help:  "Lower the video's own sound, if it is kept, while the speech track is heard.",
		Brief: "true, false",
		Takes: "`true`, `false` (default)", Meaning: "the video's own sound, if it has an `original_gain`, is lowered while the speech track is heard",
		About: "The video's own sound, if it has an `original_gain`, is lowered while the speech track is heard.\n",
		field: func(o *Options) encoding.TextUnmarshaler { return &o.Duck },
	}
	previewOption = Option{
		Name: "preview", Group: InAdvanced, Where: OfRequest | BesideSegments | ToAssistants, Schema: "Preview", Shape: Object,
		Label: "Only a part: start, seconds", Example: "90, 5",
		Flag:  "START,SECONDS",
		Help:  "Render only a part: video and speech track from START on, for at most SECONDS, such as 90,5.",
		Brief: "{start, seconds}",
		Takes: "`{\"start\": 90, \"seconds\": 5}`", Meaning: "only a part is rendered: video and audio from `start` on, for at most `seconds`",
		field: func(o *Options) encoding.TextUnmarshaler { return &o.Preview },
	}
	faceOption = Option{
		Name: "face", Group: InAdvanced, Where: OfRequest | OfSegment | ToAssistants, Schema: "Face", Shape: Object,
		Values: []Value{
			{"auto", "", "the mouth of the person who speaks is synced"},
			{`{"frame": 120, "point": [640, 360]}`, "", "that of the person at this point of this frame, in pixels of the video as displayed. Frames count from 0"},
			{`{"id": "0,640,310"}`, "", "that of a person whom an analysis of the same video found"},
			{`{"boxes_url": "https://…"}`, "", "in each frame that of the person in a box"},
		},
		Label: "Face: auto; frame, x, y; or address of boxes",
		Flag:  "FRAME,X,Y",
		Help:  "Sync only the person at a point of a frame, such as 120,640,360: frames count from 0, x and y are pixels from the top left corner.",
		Brief: "{frame, point: [x, y]} or {id} of an analysis",
		OfOne: []string{
			"{type: string, enum: [auto], description: The person who speaks.}",
			`{$ref: "#/components/schemas/FaceByID"}`,
			`{$ref: "#/components/schemas/FaceAt"}`,
		},
		field: func(o *Options) encoding.TextUnmarshaler { return &o.Face },
	}
	maskOption = Option{
		Name: "mask", Group: InAdvanced, Where: OfRequest | BesideSegments | ToAssistants, Schema: "Mask", Shape: Object,
		Label: "Region around the mouth: width of the edge, size",
		Flag:  "FEATHER,EXPAND",
		Help:  "Set factors of the width of the soft edge of the region that is painted around the mouth, from 0.25 to 2, and of the size of that region, from 0.85 to 1.25 (default: 1,1).",
		Brief: "{feather, expand}",
		Takes: "`{\"feather\": 0.5, \"expand\": 1.2}`", Meaning: "factors of the region that is painted around the mouth: of the width of its soft edge, 0.25 to 2, and of its size, 0.85 to 1.25; both are 1 by default",
		field: func(o *Options) encoding.TextUnmarshaler { return &o.Mask },
	}
)

// What the rows of both tracks say.
const (
	takesTrack = "1 to 64, default the one that players take"
	aboutTrack = ", counted from 1. Without it that is the one that players take. If the\n" +
		"file has several, `warnings` of the request's details name the one that was taken.\n"
)

// The rows of the tracks.
var (
	audioTrackOption = Option{
		Name: "audio_track", Group: InAdvanced, Where: OfRequest | ToAssistants, Schema: "AudioTrack",
		Shape: Integer, Least: 1, Most: mostTracks,
		Label: "Sound track of the speech", Example: "The default one",
		Flag:  "NUMBER",
		Help:  "Take the speech from this sound track of its file, counted from 1 (default: the one that players take).",
		Takes: takesTrack, Meaning: "which sound track of the audio's file is the speech",
		About: "Which sound track of the audio's file is the speech" + aboutTrack,
		field: func(o *Options) encoding.TextUnmarshaler { return &o.AudioTrack },
	}
	videoTrackOption = Option{
		Name: "video_track", Group: InAdvanced, Where: OfRequest | BesideSegments | ToAssistants, Schema: "VideoTrack",
		Shape: Integer, Least: 1, Most: mostTracks,
		Label: "Track of pictures of the video", Example: "The default one",
		Flag:  "NUMBER",
		Help:  "Take the pictures from this track of the video, counted from 1 (default: the one that players take).",
		Takes: takesTrack, Meaning: "which track of pictures of the video is rendered",
		About: "Which track of pictures of the video is rendered" + aboutTrack,
		field: func(o *Options) encoding.TextUnmarshaler { return &o.VideoTrack },
	}
)

// The rows of the fields of an output.
var (
	formatOption = Option{
		Name: "format", Group: InFile, Where: OfOutput | ToAssistants, Schema: "Format",
		Values:  []Value{{"mp4", "MP4", ""}, {"mov", "MOV", ""}, {"webm", "WebM", ""}},
		Label:   "Format",
		Flag:    "FORMAT",
		Help:    "Set the format of the output: mp4, mov or webm (default: by its name, or mp4).",
		Meaning: "the format of the file. The sound is AAC in MP4 and MOV, and Opus in WebM",
		About:   "The format of the file. The sound is AAC in MP4 and MOV, and Opus in WebM.",
		field:   func(o *Options) encoding.TextUnmarshaler { return &o.Output.Format },
	}
	codecOption = Option{
		Name: "codec", Group: InAdvanced, Where: OfOutput | ToAssistants, Schema: "Codec",
		Values:  []Value{{"", "That of the format", ""}, {"h264", "H.264", ""}, {"hevc", "HEVC", ""}, {"vp9", "VP9", ""}, {"prores", "ProRes", ""}},
		Label:   "Codec",
		Flag:    "CODEC",
		Help:    "Set the codec of the pictures: h264 (the default of mp4 and mov), hevc (mp4, mov), vp9 (mp4, and the default of webm) or prores (mov). All except h264 keep 10 bits and HDR; prores, and vp9 in webm, keep transparency.",
		Meaning: "the codec of the pictures. `mp4` takes `h264` (default), `hevc` and `vp9`; `mov` takes `h264` (default), `hevc` and `prores`; `webm` takes `vp9`",
		About: "The codec of the pictures. `mp4` takes `h264` (its default), `hevc` and `vp9`; `mov` takes `h264` (its default), `hevc`\n" +
			"and `prores`; `webm` takes `vp9`. `hevc`, `vp9` and `prores` keep 10 bits and a high dynamic range by PQ or HLG.\n" +
			"`hevc` also keeps the static metadata of HDR10: the mastering display, MaxCLL and MaxFALL; other outputs lose it without a warning.\n" +
			"`prores` keeps transparency, and so does `vp9` in `webm`, but with 8 bits and a standard dynamic range. HDR and transparency\n" +
			"that an output can't keep are converted, and `warnings` of the request's details say so.\n",
		field: func(o *Options) encoding.TextUnmarshaler { return &o.Output.Codec },
	}
	qualityOption = Option{
		Name: "quality", Group: InFile, Where: OfOutput | ToAssistants, Schema: "Quality",
		Values:  []Value{{"source", "As the video", ""}, {"high", "High", ""}, {"medium", "Medium", ""}, {"low", "Low", ""}},
		Label:   "Quality",
		Flag:    "QUALITY",
		Help:    "Set the quality of the pictures: source (the default: as the video), high, medium or low. A lower one makes a smaller file.",
		Meaning: "how near the pictures are to those of the video. `high` is nearest, and each step below it makes the file about half as large. `source` takes some 1.5 times the data of the video's pictures at most, three times if HEVC, VP9 or AV1 becomes H.264, or more if a loss would be seen. `medium` has the same bound, down to `low`. `prores`, alpha and pictures over 4096 × 2160 have none",
		About: "How near the pictures are to those of the video. A lower quality makes a smaller file. `source` looks like `high`,\n" +
			"but its pictures take at most some 1.5 times the data of the video's, three times if the video is HEVC, VP9 or AV1,\n" +
			"which need half the data, and the output H.264, or more if a loss would be seen. `medium` has\n" +
			"the same bound, but is never smaller than `low`. `prores`, alpha and pictures over 4096 × 2160 have none.\n",
		field: func(o *Options) encoding.TextUnmarshaler { return &o.Output.Quality },
	}
	fpsOption = Option{
		Name: "fps", Group: InAdvanced, Where: OfOutput | ToAssistants, Schema: "FrameRate",
		Shape: Number, Least: 1, Most: MostFPS, Values: []Value{{sourceRate, "", ""}},
		Label: "Frames a second",
		Flag:  "RATE",
		Help:  "Set the frames a second, from 1 to 120 (default: source, as in the video).",
		Takes: "1 to 120, or `\"source\"` (default)", Meaning: "frames a second",
		About: "Frames a second, rounded to thousandths. The rates of NTSC are exact: 29.97 is 30000/1001. Without it the output\n" +
			"has the rate of the video.\n",
		Or:    "{type: string, enum: [source], description: The rate of the video. This is the default.}",
		field: func(o *Options) encoding.TextUnmarshaler { return &o.Output.FPS },
	}
	widthOption = Option{
		Name: "width", Group: InAdvanced, Where: OfOutput | ToAssistants, Schema: "Width",
		Shape: Integer, Least: leastWidth, Most: MostWidth,
		Label: "Width in pixels", Example: "That of the video",
		Flag:  "PIXELS",
		Help:  "Set the width of the pictures (default, and the most: as in the video).",
		Takes: "16 to 4096, default that of the video", Meaning: "pixels; an odd number is rounded down. The height keeps the shape of the pictures",
		About: "The width of the output in pixels; an odd one is rounded down. The height keeps the shape of the pictures. The\n" +
			"request fails if the video is less wide. Without it the output has the size of the video.\n",
		field: func(o *Options) encoding.TextUnmarshaler { return &o.Output.Width },
	}
	fileNameOption = Option{
		Name: "file_name", Group: InFile, Where: OfOutput | ToAssistants, Schema: "FileName", Shape: Text,
		Rules: []string{"minLength: 1", "maxLength: 255", `pattern: '^[^/\\\x00-\x1f\x7f-\x9f]*$'`},
		Label: "File name",
		Takes: "1 to 255 characters, no slashes", Meaning: "the name under which the output is downloaded. It gets the extension of the format, instead of one of another format",
		About: "The name under which the output is downloaded, with the extension of its format or without one. Without it the\n" +
			"name comes from that of the video.\n",
		field: func(o *Options) encoding.TextUnmarshaler { return &o.Output.FileName },
	}
	uploadURLOption = Option{
		Name: "upload_url", Group: InAdvanced, Where: OfOutput, Schema: "UploadURL", Shape: Text,
		Rules: []string{"format: uri", `pattern: "^[hH][tT][tT][pP][sS]?://"`, "maxLength: 8192"},
		Label: "Also send it to (PUT)", Example: "https://",
		Takes: "`https://…`", Meaning: "the service also sends the file there, by PUT",
		About: "Where the service also sends the output, by PUT, before the request is `completed`: for example a URL that you\n" +
			"signed for your own storage. The PUT has the `Content-Type` of the format (`video/mp4`, `video/quicktime` or\n" +
			"`video/webm`), a `Content-Length`, and `x-ms-blob-type: BlockBlob` for Azure. The URL must be valid until then, have a\n" +
			"host with a public address, and answer 2xx within 20 minutes, without a redirect. The output may be sent more\n" +
			"than once. The request fails with `upload_refused` if the answer is a 4xx other than 408, 425 and 429.\n",
		Shows: "{type: string, format: uri, description: \"Scheme and host of the `upload_url`. The rest of it may hold a secret.\"}",
		field: func(o *Options) encoding.TextUnmarshaler { return &o.Output.UploadURL },
	}
)

// table has all rows, in the order in which people read them.
var table = []*Option{
	&syncModeOption, &silenceOption, &noFaceOption, &voiceGainOption, &originalGainOption, &duckOption, &previewOption, &faceOption, &maskOption,
	&audioTrackOption, &videoTrackOption,
	&formatOption, &codecOption, &qualityOption, &fpsOption, &widthOption, &fileNameOption, &uploadURLOption,
}
