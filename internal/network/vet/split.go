package vet

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// leastSplit is the size of the smallest weights that Split leaves out, in bytes. Smaller
// ones may be sizes and shapes, which ONNX Runtime wants to see early.
const leastSplit = 64 << 10

// mostKept bounds what Split returns, in bytes. A network of 2 GB has less than 1 MiB besides its large weights.
const mostKept = 64 << 20

// Split reads a file of the given size and name, and returns all of it but the numbers of
// its large weights: once for Read, and once for ONNX Runtime, which is told where in the
// file the numbers are. So what Read has judged is no longer in the file, where somebody
// could still change it, and memory doesn't hold the weights twice. halves are the bytes of
// those large weights that have 16 bits.
func Split(r io.Reader, size int64, name string) (judged, linked []byte, halves int64, err error) {
	s := splitter{r: bufio.NewReaderSize(r, 1<<20), name: name}
	var model parts
	err = s.fields(size, &model, func(number protowire.Number, length int64) (bool, error) {
		if number != 7 { // graph
			return false, nil
		}
		return true, s.nested(&model, number, length, s.graph)
	})
	if errors.Is(err, io.EOF) {
		err = errNoModel
	}
	if err != nil {
		return nil, nil, 0, err
	}
	return model.judged.Bytes(), model.linked.Bytes(), s.halves, nil
}

// parts are both forms of a message.
type parts struct{ judged, linked bytes.Buffer }

func (p *parts) write(b []byte) {
	p.judged.Write(b)
	p.linked.Write(b)
}

// splitter reads a file.
type splitter struct {
	r    *bufio.Reader
	at   int64 // offset of the next byte
	kept int64 // bytes in both forms
	name string

	halves int64
}

// keep counts bytes that are going to be in both forms.
func (s *splitter) keep(n int64) error {
	if s.kept += 2 * n; s.kept > mostKept {
		return errNoRaw
	}
	return nil
}

// nested reads a message of the length by read, and writes both its forms as a field of to.
func (s *splitter) nested(to *parts, number protowire.Number, length int64, read func(*parts, int64) error) error {
	var inner parts
	if err := read(&inner, length); err != nil {
		return err
	}
	head := protowire.AppendTag(nil, number, protowire.BytesType)
	if err := s.keep(512); err != nil { // more than the head and the place of weights take
		return err
	}
	to.write(head)
	to.judged.Write(protowire.AppendBytes(nil, inner.judged.Bytes()))
	to.linked.Write(protowire.AppendBytes(nil, inner.linked.Bytes()))
	return nil
}

// graph reads a GraphProto.
func (s *splitter) graph(to *parts, length int64) error {
	return s.fields(length, to, func(number protowire.Number, length int64) (bool, error) {
		if number != 5 || length < leastSplit { // initializer
			return false, nil
		}
		return true, s.nested(to, number, length, s.weights)
	})
}

// weights reads a TensorProto.
func (s *splitter) weights(to *parts, length int64) error {
	left := int64(0)
	err := s.fields(length, to, func(number protowire.Number, length int64) (bool, error) {
		if number != 9 || length < leastSplit { // raw_data
			return false, nil
		}
		left += length
		return true, s.leave(to, length)
	})
	if err != nil || left == 0 {
		return err
	}
	half := false
	err = fields(to.judged.Bytes(), func(f field) error {
		if f.number == 2 { // data_type
			half = f.varint == 10 || f.varint == 16 // FLOAT16, BFLOAT16
		}
		return nil
	})
	if half {
		s.halves += left
	}
	return err
}

// leave leaves numbers in the file, and writes to one form where they are.
func (s *splitter) leave(to *parts, length int64) error {
	for _, entry := range [][2]string{{"location", s.name}, {"offset", strconv.FormatInt(s.at, 10)}, {"length", strconv.FormatInt(length, 10)}} {
		text := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), entry[0])
		text = protowire.AppendString(protowire.AppendTag(text, 2, protowire.BytesType), entry[1])
		to.linked.Write(protowire.AppendBytes(protowire.AppendTag(nil, 13, protowire.BytesType), text)) // external_data
	}
	to.linked.Write(protowire.AppendVarint(protowire.AppendTag(nil, 14, protowire.VarintType), 1)) // data_location
	n, err := io.CopyN(io.Discard, s.r, length)
	s.at += n
	return err
}

// fields reads the fields of a message of the length. It calls take with the number and
// the length of each that has one. A field that take doesn't read is written as it is.
func (s *splitter) fields(length int64, to *parts, take func(protowire.Number, int64) (bool, error)) error {
	end := s.at + length
	for s.at < end {
		tag, err := s.varint(end)
		if err != nil {
			return err
		}
		number, kind := protowire.DecodeTag(tag)
		head, rest := protowire.AppendVarint(nil, tag), int64(0)
		switch {
		case kind == protowire.Fixed32Type:
			rest = 4
		case kind == protowire.Fixed64Type:
			rest = 8
		case kind == protowire.VarintType || kind == protowire.BytesType:
			value, err := s.varint(end)
			if err != nil {
				return err
			}
			if head = protowire.AppendVarint(head, value); kind == protowire.BytesType {
				rest = int64(min(value, uint64(end-s.at)+1)) // one more is too many
			}
		default:
			return errNoModel
		}
		if rest > end-s.at || number < 1 {
			return errNoModel
		}
		if kind == protowire.BytesType {
			if taken, err := take(number, rest); taken || err != nil {
				if err != nil {
					return err
				}
				continue
			}
		}
		if err := s.keep(int64(len(head)) + rest); err != nil {
			return err
		}
		to.write(head)
		n, err := io.CopyN(io.MultiWriter(&to.judged, &to.linked), s.r, rest)
		if s.at += n; err != nil {
			return err
		}
	}
	return nil
}

// varint reads an integer that ends before the offset end.
func (s *splitter) varint(end int64) (uint64, error) {
	var b []byte
	for s.at < end && len(b) < 10 {
		next, err := s.r.ReadByte()
		if err != nil {
			return 0, err
		}
		s.at++
		if b = append(b, next); next < 0x80 {
			if v, n := protowire.ConsumeVarint(b); n > 0 {
				return v, nil
			}
		}
	}
	return 0, errNoModel
}
