// Package render is the pipeline from a video and a speech track to a video
// whose lips follow the speech.
//
// There are two passes over the video. In the first pass each source frame is decoded. Its faces are detected, tracked and aligned
// with the canonical face, and the engine and the analyser of speakers analyse them. Then the engine makes a plan. In the second
// pass the frames are read again, painted and encoded. Both passes stream, so memory doesn't grow with the video's length.
//
// The folders in this one have the engines (warp, wav2lip, musetalk) and what those with networks share (neural), open them once for all
// jobs (engines), and measure them (measure, gpucheck).
//
// May import: domain, face, media, network, signal, sound.
//
// Inside: engines → render, warp, wav2lip, musetalk; gpucheck → engines, measure, musetalk, render, wav2lip;
// measure → render; neural → render; warp → render; wav2lip → neural; musetalk → neural.
package render
