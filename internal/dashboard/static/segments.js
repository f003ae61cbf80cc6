// The segments in the form of a new request. The field segments has them as JSON. The script shows them on a timeline,
// and writes each change into the field. It keeps what it has no inputs for, such as gains.
const segments = form.querySelector("[data-segments]");
const part = (name) => segments.querySelector(`[data-${name}]`);
const of = (name) => part("segment").querySelector(`[data-of=${name}]`);
const further = fields.filter(ref);
let list = []; // the segments
let chosen; // one of them
const video = { seconds: 0, faces: [] }; // 0 if the length is not known
const names = new WeakMap(); // the names that segments have for the further audios

const round = (time) => Math.round(time * 1000) / 1000;
const refOf = (s) => s.audio?.ref ?? "";
const faceOf = ({ options }) => {
	const face = options?.face ?? "auto";
	return face.id ?? (face.point ? [face.frame, ...face.point].join() : face);
};

// total returns the length of the timeline.
const total = () => video.seconds || Math.max(10, ...list.map((s) => s.end));

// know takes the length or the faces of the video.
const know = (more) => {
	Object.assign(video, more);
	draw();
};

// measure finds the length of a file that a person chose as video, if the browser can play it.
const measure = (file) => {
	know({ seconds: 0 });
	if (!file) return;
	const player = document.createElement("video");
	player.preload = "metadata";
	player.src = URL.createObjectURL(file);
	player.onerror = () => URL.revokeObjectURL(player.src);
	player.onloadedmetadata = () => {
		URL.revokeObjectURL(player.src);
		if (input(fields[0]).files[0] === file && Number.isFinite(player.duration)) know({ seconds: player.duration });
	};
};

// write writes the segments into their field.
const write = () => {
	form.elements.segments.value = list.length ? `[${list.map((s) => JSON.stringify(s)).join(",\n")}]` : "";
	draw();
};

// read reads the field of the segments. A list that is wrong can be corrected there only.
const read = () => {
	const text = form.elements.segments.value.trim();
	let found;
	try {
		found = JSON.parse(text || "[]");
	} catch {
		// The person may still be typing.
	}
	const right = Array.isArray(found) && found.every((s) => Number.isFinite(s?.start) && Number.isFinite(s.end) && s.end > s.start);
	list = right ? found : [];
	chosen = undefined;
	part("add-segment").disabled = !right;
	part("said").textContent = right ? "" : "The JSON below is no list of segments.";
	draw();
};

// offer fills a select, which may have a value that is not among the choices.
const offer = (select, choices, value, other) => {
	if (!choices.some((c) => c[0] === value)) choices.push([value, other]);
	select.replaceChildren(...choices.map(([v, text]) => new Option(text, v, false, v === value)));
};

// draw shows the segments as blocks, and the chosen one's values except for the numbers.
const draw = () => {
	part("timeline").replaceChildren(...list.map((s) => {
		const block = document.createElement("button");
		block.type = "button";
		block.textContent = `${s.start}–${s.end} s${refOf(s) && `, ${refOf(s)}`}`;
		block.setAttribute("aria-pressed", s === chosen);
		block.style.left = `${s.start / total() * 100}%`;
		block.style.width = `${(s.end - s.start) / total() * 100}%`;
		block.addEventListener("click", () => pick(s));
		return block;
	}));
	part("length").textContent = video.seconds ? `${video.seconds.toFixed(1)} s` : "The length of the video is not known yet";
	part("segment").hidden = part("remove-segment").hidden = !chosen;
	if (!chosen) return;
	offer(of("audio"), [["", "The first audio"], ...further.filter(used).map((f) => [ref(f).value.trim(), ref(f).value])], refOf(chosen), refOf(chosen));
	offer(of("face"), [["auto", "The one who speaks"], ...video.faces.map((f) => [f.id, f.text])], faceOf(chosen), "The chosen one");
};

// pick shows the values of a segment.
const pick = (s) => {
	chosen = s;
	of("start").value = s.start;
	of("end").value = s.end;
	draw();
	part("timeline").querySelector("[aria-pressed=true]").focus();
};

// addSegment adds a segment at the beginning of the longest part of the video that has none.
const addSegment = () => {
	const limit = video.seconds || total() + 10;
	let start = 0, gap = 0, last = 0;
	for (const s of [...list].sort((a, b) => a.start - b.start).concat({ start: limit, end: limit })) {
		if (s.start - last > gap) [start, gap] = [last, s.start - last];
		last = Math.max(last, s.end);
	}
	const added = { start: round(start), end: round(start + Math.min(gap, limit / 5)) };
	if (!(added.end > added.start)) {
		part("said").textContent = "The video has no room for another segment.";
		return;
	}
	list.push(added);
	write();
	pick(added);
};

// change takes the value of an input for the chosen segment.
const change = ({ target }) => {
	const { dataset: { of: field }, value } = target;
	switch (field) {
	case "start":
	case "end":
		if (value) chosen[field] = Number(value);
		break;
	case "audio":
		if (value) chosen.audio = { ref: value };
		else delete chosen.audio;
		break;
	case "face":
		chosen.options = { ...chosen.options, face: value === "auto" ? value : { id: value } };
	}
	write();
};

// addAudio shows the fields of a further audio.
const addAudio = () => {
	const field = further.find((f) => !used(f));
	ref(field).value = `audio ${further.indexOf(field) + 2}`;
	names.set(field, ref(field).value);
	field.hidden = false;
	part("add-audio").disabled = further.every(used);
	ref(field).focus();
	draw();
};

// removeAudio empties and hides the fields of a further audio.
const removeAudio = (field) => {
	ref(field).value = address(field).value = "";
	field.hidden = true;
	part("add-audio").disabled = false;
	part("add-audio").focus();
	draw();
};

// rename gives the segments of a further audio its new name.
const rename = (field) => {
	const name = ref(field).value.trim();
	const renamed = list.filter((s) => name && refOf(s) && refOf(s) === names.get(field));
	names.set(field, name);
	for (const s of renamed) s.audio.ref = name;
	if (renamed.length) write();
	else draw();
};

// showSegments shows the segments and the further audios that the form has.
const showSegments = () => {
	for (const field of further) {
		field.hidden = !ref(field).value && !address(field).value && !input(field).files.length;
		names.set(field, ref(field).value.trim());
	}
	part("add-audio").disabled = further.every(used);
	segments.hidden = false;
	read();
};

form.elements.segments.addEventListener("input", read);
part("segment").addEventListener("input", change);
part("add-segment").addEventListener("click", addSegment);
part("add-audio").addEventListener("click", addAudio);
part("remove-segment").addEventListener("click", () => {
	list = list.filter((s) => s !== chosen);
	chosen = undefined;
	write();
	part("add-segment").focus();
});
for (const field of further) ref(field).addEventListener("change", () => rename(field));
