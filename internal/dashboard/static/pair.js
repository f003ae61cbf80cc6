// Source and output play at the same time. The source has no sound, and follows what a person does
// with the output.
const source = document.querySelector("[data-source]");
const output = document.querySelector("[data-output]");

// align moves the source to the output's time, if the difference is larger than the tolerance in
// seconds. A shorter source waits at its end.
const align = (tolerance) => {
	const time = Math.min(output.currentTime, source.duration || 0);
	if (Math.abs(source.currentTime - time) > tolerance) source.currentTime = time;
};

if (source && output) {
	output.addEventListener("play", () => { align(0.05); source.play().catch(() => {}); });
	output.addEventListener("pause", () => { source.pause(); align(0.05); });
	output.addEventListener("seeking", () => align(0.05));
	output.addEventListener("ratechange", () => { source.playbackRate = output.playbackRate; });
	source.addEventListener("loadedmetadata", () => align(0.05)); // it may load after the output has ended
	output.addEventListener("timeupdate", () => { if (!output.paused && !source.seeking) align(0.2); });
}

// If a video can't be loaded or played by this browser, its caption says so.
for (const video of document.querySelectorAll("figure video")) {
	const tell = () => { video.nextElementSibling.append(", which can’t be played here"); };
	if (video.error) tell(); else video.addEventListener("error", tell);
}
