// Package face groups what sees faces: it finds them in one frame, follows them, brings them onto one
// canonical face, and notices what hides them.
//
// May import: domain for tracking, network, signal.
//
// Inside: alignment → detection, registration, tracking; occlusion → alignment, detection, registration;
// tracking → detection, registration; detection → eyes.
package face
