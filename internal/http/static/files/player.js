// The page of a request plays its output with the source beside it or wiped over it, and moves frame by frame. The source has no sound, and
// follows what a person does with the output.
const pair = document.querySelector(".pair");
const source = pair?.querySelector("[data-source]");
const output = pair?.querySelector("[data-output]");

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

// If a video or picture can't be loaded or played by this browser, a sentence takes its place. Of some videos
// a browser plays only the sound; then they have no width.
for (const shown of document.querySelectorAll("figure :is(video, img)")) {
	const tell = () => {
		if (!shown.isConnected) return;
		const said = Object.assign(document.createElement("p"), { className: "empty", textContent: "This browser can’t play it." });
		if (shown === output) document.querySelector("[data-controls]").hidden = document.querySelector(".line").hidden = true;
		shown.replaceWith(said);
	};
	if (shown.error || (shown.complete && !shown.naturalWidth)) tell(); else shown.addEventListener("error", tell);
	const look = () => { if (shown.videoWidth === 0) tell(); };
	if (shown.readyState >= 1) look(); else shown.addEventListener("loadedmetadata", look);
}

// The controls below the player.
const controls = document.querySelector("[data-controls]");
if (output && controls) {
	const line = document.querySelector(".line"), seek = line.querySelector("input"), needle = line.querySelector("i");
	const fps = Number(output.dataset.output) || 25;
	const length = () => Number.isFinite(output.duration) ? output.duration : 0;
	const clock = (time) => `${Math.floor(time / 60)}:${(time % 60).toFixed(2).padStart(5, "0")}`;
	const tell = () => {
		controls.querySelector("output").textContent = `${clock(output.currentTime)} · frame ${Math.floor(output.currentTime * fps + .01)}`;
		seek.max = length();
		seek.value = output.currentTime;
		seek.setAttribute("aria-valuetext", clock(output.currentTime));
		needle.style.left = `${length() ? output.currentTime / length() * 100 : 0}%`;
	};
	const go = (time) => { output.currentTime = Math.max(0, Math.min(length(), time)); };
	// step goes to the middle of a frame before or after, so that rounding never shows its neighbour.
	const step = (frames) => {
		output.pause();
		go((Math.floor(output.currentTime * fps + .01) + frames + .5) / fps);
	};
	const tick = () => {
		tell();
		if (!output.paused) requestAnimationFrame(tick);
	};
	for (const event of ["loadedmetadata", "seeked", "seeking", "pause"]) output.addEventListener(event, tell);
	output.addEventListener("play", tick);
	seek.addEventListener("input", () => go(Number(seek.value)));
	seek.addEventListener("keydown", (event) => {
		const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
		if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
		event.preventDefault();
		if (event.shiftKey) go(output.currentTime + by);
		else step(by);
	});
	for (const button of controls.querySelectorAll("[data-step]")) button.addEventListener("click", () => step(Number(button.dataset.step)));

	const wiper = controls.querySelector("[data-wipe]");
	const wipe = () => {
		pair.style.setProperty("--at", `${wiper.value}%`);
		pair.querySelector("figure + figure")?.style.setProperty("clip-path", pair.classList.contains("wipe") ? `inset(0 0 0 ${wiper.value}%)` : "none");
	};
	wiper.addEventListener("input", wipe);
	pair.addEventListener("pointermove", ({ clientX }) => {
		if (!pair.classList.contains("wipe")) return;
		const box = pair.getBoundingClientRect();
		wiper.value = (clientX - box.left) / box.width * 100;
		wipe();
	});
	const views = controls.querySelector("fieldset");
	const view = () => {
		const chosen = views.querySelector(":checked").value;
		pair.classList.toggle("alone", chosen === "alone");
		pair.classList.toggle("wipe", chosen === "wipe");
		wiper.parentElement.hidden = chosen !== "wipe";
		output.controls = chosen !== "wipe";
		wipe();
	};
	views.hidden = !pair.querySelector("figure + figure");
	views.addEventListener("change", view);
	controls.querySelector("[data-play]").addEventListener("click", () => { if (output.paused) output.play(); else output.pause(); });
	const named = () => { controls.querySelector("[data-play]").textContent = output.paused ? "Play" : "Pause"; };
	for (const event of ["play", "pause", "ended"]) output.addEventListener(event, named);
	controls.hidden = line.hidden = false;
	if (!views.hidden) view();
	if (output.readyState >= 1) tell();

	// The sound of the output, drawn once it is played. A large file isn't loaded for that.
	output.addEventListener("play", async () => {
		if (!(Number(output.dataset.size) < 40e6)) return;
		try {
			const sound = await (await fetch(output.currentSrc)).arrayBuffer();
			line.querySelector(".wave").setAttribute("d", wave(await decode(sound), 44));
			document.querySelector(".key .voice").hidden = false;
		} catch {
			// It has no sound that this browser can decode.
		}
	}, { once: true });
}
