// Package render is the pipeline from a video and a speech track to a video
// whose lips follow the speech.
//
// There are two passes over the video. In the first pass each source frame is decoded. Its faces are detected, tracked and aligned
// with the canonical face, and the engine and the analyser of speakers analyse them. Then the engine makes a plan. In the second
// pass the frames are read again, painted and encoded. Both passes stream, so memory doesn't grow with the video's length.
//
// The folders in this one say what an engine is (engine), have the engines (warp with its mouth, wav2lip, musetalk) and what those with networks share (neural),
// open them once for all jobs (engines), and measure them (measure, gpucheck). The others are rooms of the pipeline: the files of a job (intake), the frames in time (footage) and
// their pixels (blend), who is in them (people), what is recorded (recording) and how well it follows (syncscore), and what goroutines share (flow).
//
// May import: domain, face, media, network, signal, sound.
//
// Inside: render → blend, engine, flow, footage, intake, people, recording, syncscore; blend → engine; footage → blend, flow;
// people → flow, footage; recording → flow, syncscore; syncscore → people;
// engines → render, engine, intake, people, warp, wav2lip, musetalk; gpucheck → render, engine, engines, intake, measure, musetalk, wav2lip;
// measure → render, engine; neural → engine; warp → engine, warp/mouth; warp/mouth → engine; wav2lip → neural; musetalk → neural.
package render
