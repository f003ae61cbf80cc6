package ffmpeg

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"strings"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/media/sandbox"
)

// Reel is a file with a part of the pictures of an output, as Encode writes it without sound.
type Reel struct {
	Path   string
	Frames int // number of its pictures
}

// TakeReel writes the pictures of the output at the path from, which has sound, to a reel at the path to.
func (t *Tools) TakeReel(ctx context.Context, v *medium.Video, o order.Output, from, to string) error {
	// Without -copyts, the sound would move the pictures: it begins before them, with samples that players drop.
	args := []string{"-v", "error", "-protocol_whitelist", "file", "-copyts", "-f", demuxer(o.Format), "-i", "file:" + from}
	args = append(append(args, "-map", "0:v"), copyArgs(v, o)...)
	p, err := t.startWriter(ctx, t.FFmpeg, append(args, outputArgs(o, to)...), sandbox.Files{Read: []string{from}, Write: []string{to}})
	if err == nil {
		err = p.wait()
	}
	if err != nil {
		return fmt.Errorf("take the pictures of an output: %w", err)
	}
	return nil
}

// Join writes the pictures of the reels, one reel after the other, and the sound to the path output, without encoding them again. All reels
// were encoded with the arguments v and o. EncodeSound wrote the sound; for WebM it is a file of Samples or Mix. The output file exists only after success.
func (t *Tools) Join(ctx context.Context, v *medium.Video, o order.Output, reels []Reel, sound, output string) error {
	part := output + ".part"
	files := sandbox.Files{Read: []string{sound}, Write: []string{part}}
	for _, r := range reels {
		files.Read = append(files.Read, r.Path)
	}
	args, err := joinArgs(v, o, sound, part)
	if err != nil {
		return fmt.Errorf("join reels: %w", err)
	}
	p, err := t.startWriter(ctx, t.FFmpeg, args, files)
	if err == nil {
		_, err = p.Write(reelList(reels, v.Rate))
		err = errors.Join(err, p.wait())
	}
	if err == nil {
		return os.Rename(part, output)
	}
	return fmt.Errorf("join reels: %w", errors.Join(err, os.Remove(part)))
}

func joinArgs(v *medium.Video, o order.Output, sound, output string) ([]string, error) {
	args := []string{"-v", "error", "-protocol_whitelist", "file,pipe", "-f", "concat", "-safe", "0", "-i", "pipe:0"}
	input, streams := []string{"-protocol_whitelist", "file", "-f", demuxer(o.Format), "-i", "file:" + sound}, copyArgs(v, o)
	if o.Format == order.WebM {
		a, err := soundOf(sound, o.Format)
		if err != nil {
			return nil, err
		}
		input, streams = wavInput(sound), append(streams, SoundArgs(a)...)
		// Times are milliseconds there, rounded. Those of a reel are rounded from its begin on, and must be from that of the output on.
		streams = append(streams, "-bsf:v", fmt.Sprintf("setts=ts=round(N*%d/%d)", 1000*v.Rate.Den, v.Rate.Num))
	}
	args = append(append(append(args, input...), "-map", "0:v", "-map", "1:a"), streams...)
	return append(args, outputArgs(o, output)...), nil
}

// copyArgs returns the arguments that copy the pictures and the sound of an output as they are encoded.
func copyArgs(v *medium.Video, o order.Output) []string {
	args := []string{"-c", "copy"}
	if o.VideoCodec() == order.HEVC {
		args = append(args, "-tag:v", "hvc1")
	}
	if o.Format == order.WebM && v.Pixels.Alpha() {
		args = append(args, "-metadata:s:v:0", "alpha_mode=1")
	}
	return args
}

// reelList returns the list of reels for ffmpeg's demuxer concat. It states the exact length of each, in microseconds. The lengths that the
// files state may differ.
func reelList(reels []Reel, rate medium.Rate) []byte {
	var list strings.Builder
	list.WriteString("ffconcat version 1.0\n")
	frames, begin := 0, int64(0)
	for _, r := range reels {
		frames += r.Frames
		end := microseconds(rate, frames)
		fmt.Fprintf(&list, "file 'file:%s'\nduration %dus\n", strings.ReplaceAll(r.Path, "'", `'\''`), end-begin)
		begin = end
	}
	return []byte(list.String())
}

// microseconds returns the length of a number of frames, rounded.
func microseconds(r medium.Rate, frames int) int64 {
	n := new(big.Int).Mul(big.NewInt(int64(frames)), big.NewInt(r.Den*1_000_000))
	n.Add(n, big.NewInt(r.Num/2))
	return n.Div(n, big.NewInt(r.Num)).Int64()
}
