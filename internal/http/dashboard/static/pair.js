// Source and output play at the same time. The source has no sound, and follows what a person does
// with the output.
const source = document.querySelector("[data-source]");
const output = document.querySelector("[data-output]");

// align moves the source to the output's time, if the difference is larger than the tolerance in
// seconds. The output is a preview of the source from data-source on. A shorter source waits at its end.
const align = (tolerance) => {
	const time = Math.min(Number(source.dataset.source) + output.currentTime, source.duration || 0);
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

// If a video or picture can't be loaded or played by this browser, its caption says so. Of some videos
// a browser plays only the sound; then they have no width.
for (const shown of document.querySelectorAll("figure :is(video, img)")) {
	const tell = () => { shown.nextElementSibling.append(", which can’t be played here"); };
	if (shown.error || (shown.complete && !shown.naturalWidth)) tell(); else shown.addEventListener("error", tell);
	const look = () => { if (shown.videoWidth === 0) tell(); };
	if (shown.readyState >= 1) look(); else shown.addEventListener("loadedmetadata", look);
}
