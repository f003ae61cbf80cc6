package vet

import "google.golang.org/protobuf/encoding/protowire"

// field is a field of a protobuf message. Its value is in bytes if it has a length,
// and in varint if it is an integer.
type field struct {
	number protowire.Number
	bytes  []byte
	varint uint64
}

// fields calls f with each field of a message.
func fields(message []byte, f func(field) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return errNoModel
		}
		message = message[n:]
		next := field{number: number}
		switch kind {
		case protowire.BytesType:
			next.bytes, n = protowire.ConsumeBytes(message)
		case protowire.VarintType:
			next.varint, n = protowire.ConsumeVarint(message)
		default:
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return errNoModel
		}
		message = message[n:]
		if err := f(next); err != nil {
			return err
		}
	}
	return nil
}
