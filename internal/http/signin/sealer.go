package signin

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
)

// Sealer encrypts and signs the values of cookies of one name.
type Sealer struct {
	aead cipher.AEAD
	name string
}

// NewSealer returns a sealer for cookies of the name. It opens no cookies of other names.
func NewSealer(secret [32]byte, name string) (Sealer, error) {
	block, err := aes.NewCipher(secret[:])
	if err != nil {
		return Sealer{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return Sealer{aead, name}, err
}

// Seal returns v as a cookie's value.
func (s Sealer) Seal(v any) (string, error) {
	text, err := json.Marshal(v)
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, text, []byte(s.name))), err
}

// Open decrypts a cookie's value, and sets v to the content.
func (s Sealer) Open(sealed string, v any) error {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return err
	}
	text, err := s.aead.Open(nil, nil, raw, []byte(s.name))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}
