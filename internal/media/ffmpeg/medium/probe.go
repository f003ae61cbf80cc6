package medium

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ProbeArgs returns ffprobe's arguments that make the report of a file of a media type.
func ProbeArgs(path, kind string) []string {
	const wanted = "format=format_name,start_time,duration,size:format_tags=major_brand:" +
		"stream=index,codec_type,codec_name,width,height,pix_fmt,sample_aspect_ratio,field_order," +
		"color_range,color_space,color_transfer,color_primaries,avg_frame_rate,r_frame_rate,time_base," +
		"start_pts,duration,bit_rate,channels,sample_rate,extradata_size:" +
		"stream_disposition=" + dispositions + ":stream_tags=alpha_mode,DURATION:stream_side_data=" + sideFields +
		":packet=stream_index,size:frame=stream_index,best_effort_timestamp,width,height,pix_fmt,sample_aspect_ratio," +
		"color_range,color_space,color_transfer,color_primaries:frame_side_data=" + sideFields
	demuxers := strings.Join(formats(), ",")
	var args []string
	if demuxer := stills[kind]; demuxer != "" { // by the names of files, ffprobe would choose a demuxer that reads numbered files
		args, demuxers = []string{"-f", demuxer}, demuxer
	}
	return append(args, "-v", "error", "-print_format", "json", "-show_entries", wanted,
		"-read_intervals", "%+#20", // packets: enough for the covers, which come first, and for the time of the first picture
		"-protocol_whitelist", "file", "-format_whitelist", demuxers,
		"-max_pixels", strconv.Itoa(maxPixels), "-i", "file:"+path)
}

// report is ffprobe's output.
type report struct {
	Format struct {
		Name     string `json:"format_name"`
		Start    string `json:"start_time"` // of its first stream, in seconds
		Duration string `json:"duration"`
		Size     string `json:"size"` // of the file, in bytes
		Tags     struct {
			Brand string `json:"major_brand"` // of MOV, MP4 and AVIF
		} `json:"tags"`
	} `json:"format"`
	Streams []stream `json:"streams"`
	Read    []struct {
		Type   string `json:"type"` // packet or frame
		Stream int    `json:"stream_index"`
		Size   string `json:"size"`                  // of a packet, in bytes
		Time   *int64 `json:"best_effort_timestamp"` // of a frame
		picture
		SideData []sideData `json:"side_data_list"`
	} `json:"packets_and_frames"`
}

// picture is what a stream tells of its pictures, or a frame of itself. A stream tells it of any of the first pictures.
type picture struct {
	Width     int    `json:"width"`
	Height    int    `json:"height"`
	PixFmt    string `json:"pix_fmt"`
	Aspect    string `json:"sample_aspect_ratio"`
	Range     string `json:"color_range"`
	Space     string `json:"color_space"`
	Transfer  string `json:"color_transfer"`
	Primaries string `json:"color_primaries"`
}

type stream struct {
	Index int    `json:"index"`
	Type  string `json:"codec_type"`
	Codec string `json:"codec_name"`
	picture
	FieldOrder  string      `json:"field_order"`
	AvgRate     string      `json:"avg_frame_rate"`
	FitRate     string      `json:"r_frame_rate"` // lowest rate whose frames hold all of the first pictures
	TimeBase    string      `json:"time_base"`
	Start       int64       `json:"start_pts"`
	Duration    string      `json:"duration"` // seconds
	BitRate     string      `json:"bit_rate"` // bits a second; of sound, most files or codecs state it
	Channels    int         `json:"channels"`
	SampleRate  string      `json:"sample_rate"`
	Extra       int         `json:"extradata_size"` // bytes; the content of an attachment
	Disposition disposition `json:"disposition"`
	Tags        struct {
		AlphaMode string `json:"alpha_mode"`
		End       string `json:"DURATION"` // of Matroska: the time when the stream ends, as hours:minutes:seconds
	} `json:"tags"`
	SideData []sideData `json:"side_data_list"`
}

// Parse returns the Info of a file of a media type, by ffprobe's report, or by why ffprobe failed. A picture with more pixels than ffprobe reads has
// only its size. The error is an ErrUnsupported, such as ErrPicture or a ColoursError, or that of opening the file.
func Parse(path, kind string, report []byte, failed error) (info *Info, err error) {
	if err = failed; err == nil {
		info, err = parseProbe(report, stills[kind])
	}
	if err != nil {
		return unreadable(path, kind, err)
	}
	info.Path = path
	return info, nil
}

// parseProbe returns the Info for ffprobe's output, with the default track of each kind.
// demuxer is that of a picture, "" for other files.
func parseProbe(b []byte, demuxer string) (*Info, error) {
	var r report
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("%w: ffprobe's answer: %w", ErrUnsupported, err)
	}
	if demuxer != "" {
		return r.still(demuxer)
	}
	if !slices.Contains(formats(), r.Format.Name) {
		return nil, fmt.Errorf("%w: format %q", ErrUnsupported, r.Format.Name)
	}
	extra := 0
	for _, s := range r.Streams {
		if extra += r.extra(s); extra >= maxExtra {
			return nil, fmt.Errorf("%w: attachments of %d bytes or more", ErrUnsupported, maxExtra)
		}
	}
	return r.info(0, 0)
}

// extra returns the number of bytes of the stream that each process that opens the file keeps in
// memory. It returns maxExtra for more than that, and if ffprobe had too little memory to report them.
func (r *report) extra(s stream) int {
	bytes := max(s.Extra, 0)
	if s.Disposition.AttachedPic != 0 {
		cover := maxExtra
		for _, p := range r.Read {
			if n, err := strconv.Atoi(p.Size); err == nil && p.Type == "packet" && p.Stream == s.Index {
				cover = max(n, 0)
				break
			}
		}
		bytes = min(bytes, maxExtra) + min(cover, maxExtra)
	} else if s.Type == "attachment" && bytes == 0 {
		bytes = maxExtra
	}
	return min(bytes, maxExtra)
}

// times returns the times of the stream's first pictures, in ticks. It uses the container's start time
// only if there are none, since that may differ from the decoder's times.
func (r *report) times(s stream) []int64 {
	var times []int64
	for _, f := range r.Read {
		if f.Type == "frame" && f.Stream == s.Index && f.Time != nil {
			times = append(times, *f.Time)
		}
	}
	if times == nil {
		return []int64{s.Start}
	}
	return times
}

// begin returns the stream with what its first picture tells, if that could be decoded: those after it may have another size, or other colours.
// Colours that no picture tells are those of the container.
func (r *report) begin(s stream) stream {
	var pictures []picture
	for _, f := range r.Read {
		if f.Type == "frame" && f.Stream == s.Index && f.Width > 0 && f.Height > 0 {
			pictures = append(pictures, f.picture)
		}
	}
	if len(pictures) == 0 {
		return s
	}
	of := s.picture
	s.picture = pictures[0]
	for _, colour := range []func(*picture) *string{
		func(p *picture) *string { return &p.Range }, func(p *picture) *string { return &p.Space },
		func(p *picture) *string { return &p.Transfer }, func(p *picture) *string { return &p.Primaries },
	} {
		if !slices.ContainsFunc(pictures, func(p picture) bool { return known(*colour(&p)) }) {
			*colour(&s.picture) = *colour(&of)
		}
	}
	return s
}

// known reports whether ffprobe knows the value of a colour.
func known(colour string) bool { return colour != "" && colour != "unknown" && colour != "reserved" }

// stated returns the length of the stream that the file states, 0 if it states none. The length of
// the whole file counts only if the file has no sound, since the sound may be longer.
func (r *report) stated(s stream, v *Video) time.Duration {
	if d := parseSeconds(s.Duration); d > 0 {
		return d
	}
	end := parseClock(s.Tags.End)
	sound := slices.ContainsFunc(r.Streams, func(s stream) bool { return s.Type == "audio" })
	if end == 0 && !sound {
		end = parseSeconds(r.Format.Duration)
	}
	return max(0, end-max(0, v.begin()))
}

// bits returns the bits of a second of the video stream in the file: of all bits that the file has, less those of other streams by the rates that
// they state. What files state about pictures may be only intended. It returns 0 if that doesn't tell, as in Matroska, where most codecs of sound state
// no rate: see ffmpeg's Tools.CountBits.
func (r *report) bits(s stream, v *Video) float64 {
	whole := parseSeconds(r.Format.Duration).Seconds()
	bytes, _ := strconv.ParseInt(r.Format.Size, 10, 64)
	bits := 8 * float64(bytes)
	for _, other := range r.Streams {
		rate, err := strconv.ParseInt(other.BitRate, 10, 64)
		switch {
		case other.Index == s.Index:
		case err == nil:
			bits -= float64(rate) * cmp.Or(parseSeconds(other.Duration).Seconds(), whole)
		case other.Type == "audio" || other.Type == "video" && other.Disposition.AttachedPic == 0:
			return 0
		}
	}
	seconds := cmp.Or(v.Stated.Seconds(), whole)
	if bits < 0 || seconds == 0 {
		return 0
	}
	return bits / seconds
}

// rate returns the rate of frames that shows each picture close to its own time: the average of pictures that come evenly. Others, as those of
// phones and of recorded screens, mostly lie on the frames of a higher rate, which ffmpeg fits to the first ones. If it fits one, that is taken,
// or half of it for pictures that mostly stand, or a multiple that is smooth. If it fits none, the average is taken, or 30 if that is low.
func (s stream) rate(format string, times []int64) Rate {
	const (
		smooth = 23  // frames a second, whose pictures are at most 22 ms off
		usual  = 30  // frames a second, at least, instead of a rate that isn't smooth
		most   = 60  // of a fitted rate: higher ones count clock ticks
		alike  = .01 // of a rate
	)
	average := s.average(times)
	if _, standard := average.snap(); standard && s.even(average, times) {
		return average
	}
	fit, ok := ParseRate(s.FitRate)
	fits := ok && math.Abs(fit.Float()/average.Float()-1) < alike
	if fits && (format == "mov" || format == "avi") { // in other containers ffmpeg may know the average of the first pictures only
		return fit
	}
	switch {
	case fits || ok && fit.Float() > average.Float() && fit.Float() <= most:
		for half := (Rate{fit.Num, 2 * fit.Den}); half.Float() >= max(smooth, 2*average.Float()); half.Den *= 2 {
			fit = half
		}
		if fit.Float() < smooth {
			fit.Num *= int64(math.Ceil(usual / fit.Float()))
		}
		return fit
	case average.Float() < smooth:
		return Rate{usual, 1}
	}
	return average
}

// even reports whether each of the first pictures is nearest to its own frame of an average rate. Those of a higher rate, of which some are
// missing later, aren't.
func (s stream) even(average Rate, times []int64) bool {
	timeBase, _ := ParseRate(s.TimeBase)
	for i, at := range times {
		if math.Abs(float64(at-times[0])*timeBase.Float()*average.Float()-float64(i)) > .5 {
			return false
		}
	}
	return true
}

// average returns the average frame rate. If the container states none, or one that counts clock ticks
// as recordings of browsers do, it returns the rate of the first pictures.
func (s stream) average(times []int64) Rate {
	const most = 300 // a container's rate is used up to this, in frames a second
	if r, ok := ParseRate(s.AvgRate); ok && r.Float() <= most {
		return r
	}
	timeBase, _ := ParseRate(s.TimeBase)
	span := times[len(times)-1] - times[0]
	if span <= 0 || span > 1<<30 {
		return Rate{25, 1}
	}
	return Rate{int64(len(times)-1) * timeBase.Den, span * timeBase.Num}
}

func (s stream) video() (*Video, error) {
	v := &Video{
		index: s.Index, Coded: [2]int{s.Width, s.Height}, Codec: s.Codec,
		interlaced: slices.Contains([]string{"tt", "bb", "tb", "bt"}, s.FieldOrder),
		deep:       deepFormats.MatchString(s.PixFmt),
		alpha:      hasAlpha(s.PixFmt) || s.Tags.AlphaMode == "1",
		rgb:        isRGB(s.PixFmt),
		fullRange:  s.Range == "pc" || strings.HasPrefix(s.PixFmt, "yuvj"),
	}
	ok := v.setColours(s)
	if !ok {
		return nil, unsupportedColours(s)
	}
	if v.timeBase, ok = ParseRate(s.TimeBase); !ok || s.Codec == "" || s.PixFmt == "" {
		return nil, fmt.Errorf("%w: video stream of codec %q", ErrUnsupported, s.Codec)
	}
	if v.Width, v.Height, ok = s.displaySize(); !ok {
		return nil, fmt.Errorf("%w: size %d × %d, pixels %s", ErrUnsupported, s.Width, s.Height, s.Aspect)
	}
	v.shape = float64(s.Width&^1) / float64(s.Height&^1)
	if num, den, found := strings.Cut(s.Aspect, ":"); found {
		if r, ok := ParseRate(num + "/" + den); ok {
			v.shape *= r.Float()
		}
	}
	d := s.display()
	if v.turned, v.quarter = d.turn(), d.quarter(); v.quarter {
		v.Coded, v.shape = [2]int{s.Height, s.Width}, 1/v.shape
	}
	return v, nil
}

// displaySize returns the upright size with square pixels. An odd side loses one row or column of
// pixels, so that the others stay unchanged.
func (s stream) displaySize() (w, h int, ok bool) {
	const most = 1 << 20 // pixels, so that nothing overflows
	if s.Width <= 1 || s.Height <= 1 || s.Width > most || s.Height > most {
		return 0, 0, false
	}
	w, h = s.Width&^1, s.Height&^1
	if num, den, found := strings.Cut(s.Aspect, ":"); found {
		if r, ok := ParseRate(num + "/" + den); ok {
			w = int(math.Round(float64(s.Width)*r.Float()/2)) * 2
			if r.Num == r.Den {
				w = s.Width &^ 1
			}
		}
	}
	if w < 2 || w > most {
		return 0, 0, false
	}
	if s.display().quarter() {
		w, h = h, w
	}
	return w, h, true
}

// parseSeconds parses "12.345". It returns 0 for anything that is not a plausible time.
func parseSeconds(s string) time.Duration {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f > 0) || f > 1e9 {
		return 0
	}
	return time.Duration(f * float64(time.Second))
}

// parseClock parses "01:02:03.5". It returns 0 for anything that is not a plausible time.
func parseClock(s string) time.Duration {
	var hours, minutes int
	var seconds float64
	if _, err := fmt.Sscanf(s, "%d:%d:%f", &hours, &minutes, &seconds); err != nil {
		return 0
	}
	return parseSeconds(strconv.FormatFloat(3600*float64(hours)+60*float64(minutes)+seconds, 'f', -1, 64))
}

func hasAlpha(pixFmt string) bool {
	for _, p := range []string{"yuva", "rgba", "bgra", "argb", "abgr", "gbrap", "ya8", "ya16", "ayuv", "pal8"} {
		if strings.HasPrefix(pixFmt, p) {
			return true
		}
	}
	return false
}

func isRGB(pixFmt string) bool {
	return strings.Contains(pixFmt, "rgb") || strings.Contains(pixFmt, "bgr") ||
		strings.HasPrefix(pixFmt, "gbr") || pixFmt == "pal8"
}
