// Package signal groups the numeric ground of pictures and sounds: points and similarities, sampling
// of images, spectra and filters, and a binary form of values.
//
// May import: nothing.
//
// Inside: pixels → geom.
package signal
