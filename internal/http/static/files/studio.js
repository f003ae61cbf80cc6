// The studio around the form: the chosen media are shown at once, with the faces that are found and the loudness of the speech. Five seconds
// of it can be played first, a speech can be recorded, several speeches make a batch, and what a person chose last is remembered.
const screenOf = form.querySelector("[data-screen]");
const picture = screenOf.querySelector("img");
const hears = fields[1].querySelector("[data-heard]");
const called = new Map(); // names that a person gives to faces, by their ids

// release ends the address of a chosen file.
const release = (element) => {
	if (element.src.startsWith("blob:")) URL.revokeObjectURL(element.src);
	element.removeAttribute("src");
};

// showVideo shows a file, or the video that was sent for a request before. What this browser can't play stays hidden.
const showVideo = (file) => {
	const player = screenOf.querySelector("video");
	for (const shown of [player, picture]) release(shown);
	player.load();
	still.hidden = true;
	screenOf.querySelectorAll("button").forEach((button) => button.remove());
	mark(false);
	know({ seconds: 0 });
	const field = address(fields[0]), { stored, picture: drawn } = fields[0].dataset;
	const source = file ? URL.createObjectURL(file) : field.value && field.value === field.defaultValue && stored;
	if (!source) return;
	const flat = file ? file.type.startsWith("image/") : drawn !== undefined;
	player.hidden = flat;
	picture.hidden = !flat;
	form.querySelector(".time").hidden = flat;
	const shown = flat ? picture : player;
	shown.addEventListener(flat ? "load" : "loadeddata", () => {
		still.hidden = false;
		form.querySelector("[data-try]").hidden = flat;
	}, { once: true });
	shown.src = source;
};

// newMark returns the mark of a face on the video. A click chooses the face.
const newMark = (id) => {
	const button = Object.assign(document.createElement("button"), { type: "button", value: id });
	button.append(document.createElement("span"));
	button.addEventListener("click", () => {
		chooseFace(id);
		drawPeople();
	});
	return button;
};

// drawMarks shows the faces on the video where they are at its time.
const drawMarks = () => {
	const { faces: all, width, height, fps } = video, before = [...screenOf.querySelectorAll("button")];
	const player = screenOf.querySelector("video"), frame = player.hidden ? 0 : player.currentTime * fps;
	const value = chosen ? faceOf(chosen) : form.elements.face.value;
	const marks = !all || !width || still.hidden ? [] : all.flatMap((f, i) => {
		const near = (f.boxes ?? []).filter((b) => Math.abs(b.frame - frame) <= fps).sort((a, b) => Math.abs(a.frame - frame) - Math.abs(b.frame - frame))[0];
		if (!near) return [];
		const [left, top, right, bottom] = near.box;
		const button = before.find((b) => b.value === f.id) ?? newMark(f.id); // the same one keeps the focus
		button.setAttribute("aria-pressed", value === f.id);
		button.setAttribute("aria-label", `Choose ${called.get(f.id) || `face ${i + 1}`}`);
		button.firstChild.textContent = called.get(f.id) || i + 1;
		Object.assign(button.style, { left: `${left / width * 100}%`, top: `${top / height * 100}%`, width: `${(right - left) / width * 100}%`, height: `${(bottom - top) / height * 100}%` });
		return [button];
	});
	for (const button of before) if (!marks.includes(button)) button.remove();
	for (const button of marks) if (!button.isConnected) screenOf.append(button);
};

{
	const player = screenOf.querySelector("video"), time = still.querySelector("[type=range]"), watch = still.querySelector("[data-watch]");
	player.addEventListener("loadedmetadata", () => {
		time.max = player.duration;
		if (Number.isFinite(player.duration)) know({ seconds: player.duration });
	});
	player.addEventListener("timeupdate", () => { if (!player.paused) time.value = player.currentTime; });
	for (const event of ["timeupdate", "seeked", "loadeddata"]) player.addEventListener(event, drawMarks);
	time.addEventListener("input", () => {
		player.currentTime = time.value;
		mark(false);
	});
	watch.addEventListener("click", () => { if (player.paused) player.play(); else player.pause(); });
	for (const event of ["play", "pause"]) player.addEventListener(event, () => { watch.textContent = player.paused ? "Play" : "Pause"; });
}

// hear shows a speech with its loudness. The sound of a large file isn't decoded.
const hear = async (file) => {
	const path = form.querySelector(".sound path");
	release(hears);
	hears.hidden = !file;
	path.removeAttribute("d");
	if (!file) return;
	hears.src = URL.createObjectURL(file);
	if (file.size > 100e6) return;
	try {
		const samples = await decode(await file.arrayBuffer());
		if (input(fields[1]).files[0] !== file) return;
		path.setAttribute("d", wave(samples, 44));
		know({ speech: samples.length / 8000 });
	} catch {
		// This browser can't decode it; the service may.
	}
};

// Several speeches are listed: each becomes a line of a batch.
const speeches = () => [...input(fields[1]).files];
const listSpeeches = () => {
	const all = speeches(), list = form.querySelector("[data-several]");
	list.hidden = all.length < 2;
	list.replaceChildren(...all.map((file) => Object.assign(document.createElement("li"), { textContent: file.name })));
	form.querySelector("[data-start]").textContent = all.length > 1 ? `Start ${all.length} requests` : "Start";
	form.querySelector("[data-preview]").disabled = form.querySelector("[data-estimate]").disabled = all.length > 1;
};

// startBatch sends a batch of all speeches, whose names are those of their files.
const startBatch = async () => {
	const files = speeches();
	const addresses = await sendAll([fields[0]], "Canceled. Nothing was started.", files);
	if (!addresses) return;
	form.addEventListener("formdata", ({ formData }) => {
		fill(formData, [fields[0]], addresses.slice(0, 1));
		files.forEach((file, i) => {
			formData.append("speech", addresses[i + 1]);
			formData.append("speech_name", file.name.replace(/\.[^.]*$/, ""));
		});
	}, { once: true });
	form.querySelector("[data-cancel]").hidden = true;
	form.action = form.dataset.batches;
	form.submit();
};

// A speech is recorded by the microphone, and then is a file like any other.
const record = form.querySelector("[data-record]");
record.hidden = !navigator.mediaDevices?.getUserMedia || !window.MediaRecorder;
let recorder;
record.addEventListener("click", async () => {
	if (recorder) return recorder.stop();
	try {
		const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
		const parts = [];
		recorder = new MediaRecorder(stream);
		recorder.ondataavailable = ({ data }) => parts.push(data);
		recorder.onstop = () => {
			stream.getTracks().forEach((track) => track.stop());
			const type = recorder.mimeType.split(";")[0], files = new DataTransfer();
			files.items.add(new File(parts, `recording.${type.split("/")[1] || "webm"}`, { type }));
			recorder = undefined;
			record.textContent = "Record it again";
			input(fields[1]).files = files.files;
			choose(fields[1]);
		};
		recorder.start();
		record.textContent = "Stop recording";
	} catch {
		say("The microphone can’t be used: allow it for this page, or choose a file.");
	}
});

// Five seconds are rendered from where the video stands, and play beside the original.
let trying = new AbortController();
const tellTry = (text) => { form.querySelector("[data-trying]").textContent = text; };
form.querySelector("[data-preview]").addEventListener("click", async () => {
	trying.abort();
	const shown = form.querySelector("[data-tried]"), [before, after] = shown.querySelectorAll("video");
	const from = Math.round((screenOf.querySelector("video").currentTime || 0) * 100) / 100;
	const sent = fields.filter(used);
	const addresses = await sendAll(sent, "Canceled.");
	if (!addresses) return;
	busy(false);
	const { signal } = trying = new AbortController();
	const values = new FormData(form);
	fill(values, sent, addresses);
	values.delete("once");
	values.set("from", from);
	try {
		const found = await follow(form.dataset.previews, signal, values, ({ status, percent }) =>
			tellTry(status === "queued" ? "The preview waits for its turn." : `Rendering the preview: ${percent} %`));
		if (!found.output) throw new Error(`${found.problem ?? "The preview is no longer kept"}.`);
		before.src = screenOf.querySelector("video").src;
		before.currentTime = from;
		after.src = found.output;
		shown.hidden = false;
		tellTry(`From ${from} s.`);
		after.onplay = () => { before.currentTime = from + after.currentTime; before.play(); };
		after.onpause = () => before.pause();
		after.onseeking = () => { before.currentTime = from + after.currentTime; };
		after.play().catch(() => {}); // a browser may want a click
	} catch (problem) {
		if (!signal.aborted) tellTry(problem.message);
	}
});

// A list of a batch is read into its field, so that a person sees it.
const listed = form.querySelector("[data-list]");
listed.hidden = false;
listed.addEventListener("change", async () => {
	const file = listed.files[0];
	if (!file) return;
	if (file.size > 3e6) return say(`The list ${file.name} is too large.`);
	form.elements.list.value = await file.text();
});

// What a person chose last is remembered in this browser, except for what is of one video or secret.
const passing = ["csrf", "once", "video", "audio", "more_ref", "more_audio", "reference_id", "segments", "face", "preview", "file_name", "upload_url", "list", "audio_track", "video_track"];
const kept = () => [...form.elements].filter((e) => e.name && !passing.includes(e.name) && e.type !== "file");
const memory = "lipsync options";
const remember = () => {
	try {
		localStorage.setItem(memory, JSON.stringify(Object.fromEntries(kept().map((e) => [e.name, e.type === "checkbox" ? e.checked : e.value]))));
	} catch {
		// This browser keeps nothing.
	}
};
const recall = () => {
	let last = {};
	try {
		last = JSON.parse(localStorage.getItem(memory)) ?? {};
	} catch {
		// This browser keeps nothing, or something else.
	}
	for (const e of kept()) {
		const value = last[e.name];
		if (value === undefined) continue;
		if (e.type === "checkbox") e.checked = value === true;
		else if (e.tagName !== "SELECT" || [...e.options].some((o) => o.value === value)) e.value = value;
	}
};
if (form.dataset.fresh !== undefined) recall();

// Sliders show their values.
const slide = (slider) => { slider.parentElement.querySelector("output").textContent = `${Math.round(slider.value * 100)} %`; };
for (const slider of form.querySelectorAll(".slide input")) {
	slide(slider);
	slider.addEventListener("input", () => slide(slider));
}
