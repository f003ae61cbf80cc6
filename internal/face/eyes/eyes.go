// Package eyes has networks that find faces and their points, for package conv. They are MediaPipe's, of Google, under the
// Apache licence beside them; NOTICE says what was changed.
package eyes

import (
	_ "embed"
	"sync"

	"lipsync/internal/network/conv"
)

// The networks' files, which export/export.py writes.
var (
	//go:embed mesh.bin
	meshFile []byte
	//go:embed search.bin
	searchFile []byte
)

// Side is the side of the square picture that both networks see, in pixels. They get its red, green and blue planes, row by row.
const Side = 192

// Mesh returns the network that finds the points of one face: MediaPipe's attention mesh without its branches of the eyes
// (Grishchenko et al., "Attention Mesh: High-fidelity Face Mesh Prediction in Real-time", 2020). It is loaded once.
//
// It sees an upright face with a quarter of the face's size around it, from 0 to 1. Its outputs are
//
//   - 468 points: x, y and z as shares of the picture's side; x to the right, y down, z away from the viewer
//   - 80 points of the lips, finer than those of the mesh: x and y as shares of the picture's side
//   - the probability that there is a face: one number
//
// The lips' points are four rings, each from the corner on the left of the picture: the outermost, the innermost, the one
// next to the outermost, and the one next to the innermost. A ring has 11 points along the lower lip, with both corners, and
// then 9 along the upper lip, without them. So the outermost has its corners at 0 and 10, the middle of the lower lip at 5, and
// that of the upper lip at 15. The same points of the mesh are its vertices
//
//	61 146  91 181  84  17 314 405 321 375 291   185  40  39  37   0 267 269 270 409
//	78  95  88 178  87  14 317 402 318 324 308   191  80  81  82  13 312 311 310 415
//	76  77  90 180  85  16 315 404 320 307 306   184  74  73  72  11 302 303 304 408
//	62  96  89 179  86  15 316 403 319 325 292   183  42  41  38  12 268 271 272 407
var Mesh = sync.OnceValue(func() *conv.Network { return read(meshFile) })

// Search returns the network that finds faces in a picture: MediaPipe's BlazeFace for the full range (Bazarevsky et al.,
// "BlazeFace: Sub-millisecond Neural Face Detection on Mobile GPUs", 2019). It is loaded once.
//
// It sees a whole picture from -1 to 1. It has an anchor in the middle of each cell of 48 by 48: for column i and row j
// at ((i+.5)/48, (j+.5)/48) as shares of the picture's side. Its outputs are, for the anchors row by row,
//
//   - 16 numbers in pixels of the picture: x and y of the box's middle, its width and height; then x and y of six
//     points: the eyes on the left and on the right of the picture, the tip of the nose, the middle of the mouth, and the ears
//     on the left and on the right. Middle and points are relative to the anchor: share of the side = anchor + number/192
//   - the score of the face: one number, whose sigmoid is a probability
var Search = sync.OnceValue(func() *conv.Network { return read(searchFile) })

func read(file []byte) *conv.Network {
	n, err := conv.Read(file)
	if err != nil {
		panic(err) // the program was built with a damaged file
	}
	return n
}
