// Source and output play in step: the source, which is silent, follows what is
// done to the output.
const source = document.querySelector("[data-source]");
const output = document.querySelector("[data-output]");

// align moves the source where the output is, if it is off by more than can be
// overlooked. It may be shorter, and then waits at its end.
const align = (tolerance) => {
	const time = Math.min(output.currentTime, source.duration || 0);
	if (Math.abs(source.currentTime - time) > tolerance) source.currentTime = time;
};

if (source && output) {
	output.addEventListener("play", () => { align(0.05); source.play().catch(() => {}); });
	output.addEventListener("pause", () => { source.pause(); align(0.05); });
	output.addEventListener("seeking", () => align(0.05));
	output.addEventListener("ratechange", () => { source.playbackRate = output.playbackRate; });
	output.addEventListener("timeupdate", () => { if (!output.paused && !source.seeking) align(0.2); });
}

// A video that can't be loaded, or is of a kind that this browser doesn't play, says
// so under it.
for (const video of document.querySelectorAll("figure video")) {
	const tell = () => { video.nextElementSibling.append(", which can’t be played here"); };
	if (video.error) tell(); else video.addEventListener("error", tell);
}
