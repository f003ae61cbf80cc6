// The segments in the form of a new request. The field segments has them as JSON. The script shows them on a timeline,
// and writes each change into the field.
const segments = form.querySelector("[data-segments]");
const part = (name) => segments.querySelector(`[data-${name}]`);
const of = (name) => part("segment").querySelector(`[data-of=${name}]`);
const further = fields.filter(ref);
let list = []; // the segments, in order of time
let chosen; // one of them
let blocks = new Map(); // the button of each segment
const edges = ["start", "end"];
const handleOf = (edge) => part(`${edge}-edge`);
const video = { seconds: 0 }; // 0 if the length is not known; faces are there once the search for them has ended
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
	drawPeople();
};

// write writes the segments into their field.
const write = () => {
	list.sort((a, b) => a.start - b.start);
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
	list = right ? found.sort((a, b) => a.start - b.start) : [];
	chosen = undefined;
	part("add-segment").disabled = !right;
	part("said").textContent = right ? "" : "The JSON below is no list of segments.";
	draw();
	drawPeople();
};

// offer fills a select, which may have a value that is not among the choices.
const offer = (select, choices, value, other) => {
	if (!choices.some((c) => c[0] === value)) choices.push([value, other]);
	select.replaceChildren(...choices.map(([v, text]) => new Option(text, v, false, v === value)));
};

// newBlock returns the button of a segment on the timeline. A person drags it, or moves it by the arrow keys.
const newBlock = (s) => {
	const block = document.createElement("button");
	block.type = "button";
	block.setAttribute("aria-describedby", "move-segments");
	block.addEventListener("click", () => pick(s));
	draggable(block, () => s, edges);
	return block;
};

// draw shows the segments as blocks, and the chosen one's values except for those that a person may be typing.
const draw = () => {
	blocks = new Map(list.map((s) => [s, blocks.get(s) ?? newBlock(s)]));
	const line = part("timeline"), all = [...blocks.values()];
	for (const block of line.querySelectorAll("button")) if (!all.includes(block)) block.remove();
	all.forEach((block, i) => { if (line.children[i] !== block) line.insertBefore(block, line.children[i]); });
	const place = (time) => `${time / total() * 100}%`;
	for (const [s, block] of blocks) {
		const who = called.get(faceOf(s));
		block.textContent = `${s.start}–${s.end} s${refOf(s) && `, ${refOf(s)}`}${who ? `, ${who}` : ""}`;
		block.setAttribute("aria-pressed", s === chosen);
		block.style.left = place(s.start);
		block.style.width = place(s.end - s.start);
	}
	for (const edge of edges) {
		const handle = handleOf(edge);
		handle.hidden = !chosen;
		if (!chosen) continue;
		handle.style.left = place(chosen[edge]);
		const [least, most] = room(chosen, [edge]);
		for (const [name, value] of Object.entries({ now: chosen[edge], min: round(chosen[edge] + least), max: round(chosen[edge] + most), text: `${chosen[edge]} s` })) {
			handle.setAttribute(`aria-value${name}`, value);
		}
	}
	part("length").textContent = video.seconds ? `${video.seconds.toFixed(1)} s` : "The length of the video is not known yet";
	form.querySelector(".sound").style.width = video.speech && video.seconds ? `${Math.min(100, video.speech / video.seconds * 100)}%` : "100%";
	part("segment").hidden = part("remove-segment").hidden = !chosen;
	alone(form.elements.segments.value.trim() !== "");
	if (!chosen) return;
	offer(of("audio"), [["", "The first audio"], ...further.filter(used).map((f) => [ref(f).value.trim(), ref(f).value])], refOf(chosen), refOf(chosen));
};

// alone hides the settings of the whole video if there are segments, which have their own, and moves the choice of a face to the chosen
// segment.
const alone = (yes) => {
	for (const label of form.querySelectorAll("[data-whole]")) {
		label.hidden = yes;
		label.querySelector("input, select").disabled = yes;
	}
	const place = yes ? part("segment") : form.querySelector("[data-faces-place]");
	if (faces.parentElement !== place) place.append(faces);
};

// room returns by how much some edges of a segment can move: down to the first number, up to the second. A segment keeps its length, or
// at least a tenth of a second.
const room = (s, moved) => {
	const i = list.indexOf(s);
	const before = (list[i - 1]?.end ?? 0) - s.start, after = (list[i + 1]?.start ?? total()) - s.end;
	const inside = Math.max(0, s.end - s.start - .1);
	return [
		Math.min(0, moved.includes("start") ? before : -inside),
		Math.max(0, moved.includes("end") ? after : inside),
	];
};

// move moves edges of the chosen segment by a time, as far as there is room.
const move = (moved, by) => {
	const [least, most] = room(chosen, moved);
	by = Math.min(most, Math.max(least, by));
	for (const edge of moved) of(edge).value = chosen[edge] = round(chosen[edge] + by);
	write();
};

// draggable lets a person move edges of a segment by an element: by dragging it, or by the arrow keys.
const draggable = (element, segment, moved) => {
	let from; // where the drag began
	element.addEventListener("pointerdown", (event) => {
		if (event.button !== 0) return;
		const s = segment();
		from = { x: event.clientX, s, start: s.start, end: s.end, scale: total() / part("timeline").clientWidth };
		element.setPointerCapture(event.pointerId);
	});
	element.addEventListener("pointermove", ({ clientX }) => {
		if (!from || !from.drags && Math.abs(clientX - from.x) < 4) return; // a hand isn't quite still
		from.drags = true;
		if (from.s !== chosen) pick(from.s);
		const to = Math.round((from[moved[0]] + (clientX - from.x) * from.scale) * 100) / 100;
		move(moved, to - chosen[moved[0]]);
	});
	const stop = () => { from = undefined; };
	element.addEventListener("pointerup", stop);
	element.addEventListener("pointercancel", () => { // the page scrolls
		if (from?.drags) move(moved, from[moved[0]] - chosen[moved[0]]);
		stop();
	});
	element.addEventListener("keydown", (event) => {
		const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -Infinity, End: Infinity }[event.key];
		if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
		event.preventDefault();
		if (segment() !== chosen) pick(segment());
		move(moved, step * (event.shiftKey ? 1 : .1));
	});
};

// own lists the inputs for fields of a segment itself, and of its audio. Those of its options have their defaults.
const own = {
	start: (s) => s, end: (s) => s,
	from: (s) => s.audio, to: (s) => s.audio,
};
const keys = { from: "start", to: "end" };
const ofOptions = part("segment").querySelectorAll("[data-default]");

// pick shows the values of a segment.
const pick = (s) => {
	chosen = s;
	for (const [field, holder] of Object.entries(own)) of(field).value = holder(s)?.[keys[field] ?? field] ?? "";
	for (const { dataset } of ofOptions) of(dataset.of).value = s.options?.[dataset.of] ?? dataset.default;
	draw();
	drawPeople();
	blocks.get(s).focus();
};

// inherited returns the options of a new segment: those of the segment before it, else those of the whole video, without its face.
const inherited = (before) => {
	if (before) {
		const { face, ...rest } = before.options ?? {};
		return rest;
	}
	return Object.fromEntries([...ofOptions].flatMap(({ dataset: { of: name, default: usual }, type }) => {
		const field = form.elements[name];
		const value = field.type === "checkbox" && !field.checked ? usual : field.value;
		return value === usual ? [] : [[name, type === "number" ? Number(value) : value]];
	}));
};

// addSegment adds a segment at the beginning of the longest part of the video that has none.
const addSegment = () => {
	const limit = video.seconds || total() + 10;
	let start = 0, gap = 0, last = 0;
	for (const s of list.concat({ start: limit, end: limit })) {
		if (s.start - last > gap) [start, gap] = [last, s.start - last];
		last = Math.max(last, s.end);
	}
	const added = { start: round(start), end: round(start + Math.min(gap, limit / 5)) };
	if (!(added.end > added.start)) {
		part("said").textContent = "The video has no room for another segment.";
		return;
	}
	const options = inherited(list.findLast((s) => s.end <= added.start));
	if (Object.keys(options).length) added.options = options;
	list.push(added);
	write();
	pick(added);
};

// set sets a field of the chosen segment's audio or options. An object without fields is removed.
const set = (object, field, value) => {
	const fields = { ...chosen[object], [field]: value };
	if (value === undefined) delete fields[field];
	if (Object.keys(fields).length) chosen[object] = fields;
	else delete chosen[object];
};

// change takes the value of an input for the chosen segment.
const change = ({ target }) => {
	const { dataset: { of: field, default: usual }, value } = target;
	switch (field) {
	case "start":
	case "end":
		if (value) chosen[field] = Number(value);
		break;
	case "audio":
		delete chosen.audio;
		if (value) set("audio", "ref", value);
		of("from").value = of("to").value = "";
		break;
	case "from":
	case "to":
		set("audio", keys[field], value ? Number(value) : undefined);
		break;
	default: {
		if (usual === undefined) return; // the face
		const given = target.type === "number" && value ? Number(value) : value;
		set("options", field, ["", usual].includes(String(given)) ? undefined : given);
	}
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
	drawPeople();
	part("add-segment").focus();
});
for (const edge of edges) draggable(handleOf(edge), () => chosen, [edge]);
for (const field of further) ref(field).addEventListener("change", () => rename(field));
