// The form of a new request: the script sends files to the storage itself, and shows their progress.
// Then the form has their URLs in the fields for addresses. It also shows the faces in the video.
const form = document.querySelector("form[data-uploads]");
const fields = form ? [...form.querySelectorAll("[data-drop]")] : []; // the video, the audio, and further audios for segments
let sending = new AbortController(); // ends the running calls

const say = (problem) => {
	const place = form.querySelector("[data-problem]");
	place.textContent = problem;
	place.hidden = !problem;
};

// busy shows that files are being sent. Meanwhile a person can only cancel.
const busy = (yes, sent = fields) => {
	form.querySelector("[data-preview]").disabled = yes;
	form.querySelector("[data-start-list]").disabled = yes;
	form.querySelector("[data-start]").disabled = yes;
	form.querySelector("[data-find]").disabled = yes;
	form.querySelector("[data-estimate]").disabled = yes;
	form.querySelector("[data-cancel]").hidden = !yes;
	for (const field of fields) {
		field.disabled = yes && used(field);
		field.querySelector("[data-sent]").hidden = !yes || !sent.includes(field) || !input(field).files.length;
	}
};

const size = (bytes) => bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;

// input returns the element to choose a field's file, address the one to type an address instead, and ref the one for the
// name of a further audio.
const input = (field) => field.querySelector("[data-file]");
const address = (field) => field.querySelector("[inputmode=url]");
const ref = (field) => field.querySelector("[name=more_ref]");

// used reports whether a field is shown: those of further audios are hidden until they are needed.
const used = (field) => !field.hidden;

// ask calls the service, and returns its answer. With values it posts them as a form.
const ask = async (path, signal, values) => {
	const body = new URLSearchParams(values);
	body.set("csrf", form.elements.csrf.value);
	const post = values && { method: "POST", body };
	const answer = await fetch(path, { ...post, signal }).catch((problem) => {
		throw signal.aborted ? problem : new Error("The service can’t be reached: try again.");
	});
	const text = await answer.text();
	if (answer.headers.get("Content-Type") === "application/json") {
		const body = JSON.parse(text);
		if (answer.ok) return body;
		throw new Error(`${body.error}.`);
	}
	const page = new DOMParser().parseFromString(text, "text/html"); // the page says why the form was refused
	throw new Error(page.querySelector(".says")?.textContent ?? "The service can’t be used now: load the page again.");
};

// follow asks the service for a result by posting the values, and then each second until the result is final. It
// passes each answer before on to show.
const follow = async (path, signal, values, show) => {
	let found = await ask(path, signal, values);
	const { id } = found;
	let patience = 5; // answers that may fail
	while (found.status === "queued" || found.status === "processing") {
		show(found);
		await new Promise((done) => setTimeout(done, 1000));
		found = await ask(`${path}/${id}`, signal).catch((problem) => {
			if (signal.aborted || --patience < 0) throw problem;
			return found; // the network fails for a moment: try again
		});
	}
	return found;
};

// announce announces a file, and returns the address to send it to.
const announce = (kind, file, signal) => ask(form.dataset.uploads, signal, { type: kind, size: file.size, name: file.name });

// put sends a file. It uses no fetch, which doesn't report progress.
const put = (made, file, field, signal) => new Promise((done, failed) => {
	signal.throwIfAborted();
	const call = new XMLHttpRequest();
	signal.addEventListener("abort", () => call.abort());
	call.open("PUT", made.address);
	for (const [name, values] of Object.entries(made.headers)) call.setRequestHeader(name, values.join(", "));
	call.upload.onprogress = (e) => {
		field.querySelector("progress").value = e.loaded / file.size;
		field.querySelector("[data-amount]").textContent = `${size(e.loaded)} of ${size(file.size)}`;
	};
	call.onload = () => call.status === 200 ? done() : failed(new Error(`The file ${file.name} could not be sent: try again.`));
	call.onerror = () => failed(new Error(`The file ${file.name} could not be sent: the connection broke.`));
	call.onabort = () => failed(new DOMException("canceled", "AbortError"));
	call.send(file);
});

// sources has the addresses of the files that were sent or are on the way, as promises.
const sources = new WeakMap();

// upload sends a file, unless it was sent before, and returns its address for the form.
const upload = (field, file) => {
	if (!sources.has(file)) {
		const { signal } = sending;
		const source = (async () => {
			const made = await announce(field.dataset.drop, file, signal);
			await put(made, file, field, signal);
			return made.source;
		})();
		sources.set(file, source);
		source.catch(() => sources.delete(file));
	}
	return sources.get(file);
};

// send sends the file of a field, if one is chosen. It returns the URL or the address for the form.
const send = async (field) => {
	const typed = address(field).value.trim();
	const file = input(field).files[0];
	if (!file && !typed) throw new Error(`Choose ${field.dataset.drop === "video" ? "a video" : "a speech"}, or give its address.`);
	if (ref(field)?.value.trim() === "") throw new Error("Give each further speech a name.");
	return file ? upload(field, file) : typed;
};

// sendAll sends the files of some fields, and further speeches, and returns their addresses. If that fails or is canceled, it
// says so, and returns nothing.
const sendAll = async (chosen, canceled, speeches = []) => {
	say("");
	busy(true, speeches.length ? fields : chosen);
	if (sending.signal.aborted) sending = new AbortController();
	try {
		return await Promise.all([...chosen.map(send), ...speeches.map((file) => upload(fields[1], file))]);
	} catch (problem) {
		sending.abort();
		busy(false);
		say(problem.name === "AbortError" ? canceled : problem.message);
	}
};

// fill writes the addresses of some fields to the content of the form.
const fill = (formData, sent, addresses) => {
	for (const key of ["video", "audio", "more_ref", "more_audio"]) formData.delete(key);
	sent.forEach((field, i) => {
		formData.append(address(field).name, addresses[i]);
		if (ref(field)) formData.append("more_ref", ref(field).value);
	});
};

let estimating = new AbortController(); // ends the wait for an estimate

const tellEstimate = (text) => { form.querySelector("[data-estimated]").textContent = text; };

// estimate has the service look at the media and say what would become of the request.
const estimate = async () => {
	estimating.abort();
	tellEstimate("");
	const sent = fields.filter(used);
	const addresses = await sendAll(sent, "Canceled.");
	if (!addresses) return;
	busy(false);
	const { signal } = estimating = new AbortController();
	const values = new FormData(form);
	fill(values, sent, addresses);
	try {
		const found = await follow(form.dataset.estimates, signal, values, () => tellEstimate("Looking at the media …"));
		tellEstimate(found.says);
	} catch (problem) {
		if (!signal.aborted) tellEstimate(problem.message);
	}
};

const start = async (event) => {
	remember();
	if (event.submitter?.dataset.startList !== undefined) return;
	event.preventDefault();
	finding.abort();
	estimating.abort();
	if (speeches().length > 1) return startBatch();
	const sent = fields.filter(used);
	const addresses = await sendAll(sent, "Canceled. Nothing was started.");
	if (!addresses) return;
	// Don't change the inputs: a person who comes back finds them as before.
	form.addEventListener("formdata", ({ formData }) => fill(formData, sent, addresses), { once: true });
	form.querySelector("[data-cancel]").hidden = true; // from now on the request can be canceled on its own page
	form.submit();
};

// The faces in the video. A person chooses one by its picture, or by a click into a picture of the video.
const faces = form?.querySelector("[data-faces]");
const still = form.querySelector("[data-still]");
let finding = new AbortController(); // ends the search

const tell = (text) => { faces.querySelector("[data-found]").textContent = text; };

const mark = (yes) => { still.querySelector("i").hidden = !yes; };

// forget ends the search, and hides the faces that were found.
const forget = () => {
	finding.abort();
	tell("");
	know({ faces: undefined, width: 0 });
};

// chooseFace takes the choice of a face: for the chosen segment, or in the field face. No face can be chosen together with the largest one.
const chooseFace = (value) => {
	if (chosen) {
		set("options", "face", value === "auto" ? undefined : { id: value });
		write();
		return;
	}
	form.elements.face.value = value;
	form.elements.largest_face.checked = false;
};

// person returns the choice of a person, with a picture if there is one.
const person = (checked, value, text, picture) => {
	const label = document.createElement("label");
	const choice = Object.assign(document.createElement("input"), { type: "radio", name: "person", value });
	choice.setAttribute("form", ""); // of no form: only the field face is sent
	choice.checked = checked;
	choice.addEventListener("change", () => {
		chooseFace(value);
		mark(false);
	});
	if (picture) label.append(Object.assign(document.createElement("img"), { src: `data:image/jpeg;base64,${picture}`, alt: "" }));
	label.append(choice, text);
	if (!picture) return label;
	const name = Object.assign(document.createElement("input"), { type: "text", value: called.get(value) ?? "", placeholder: "Name", maxLength: 60, autocomplete: "off" });
	name.setAttribute("form", "");
	name.setAttribute("aria-label", `Name of ${text}`);
	name.addEventListener("input", () => {
		called.set(value, name.value.trim());
		drawMarks();
		draw();
	});
	label.append(name);
	return label;
};

// drawPeople shows the people whose mouth can follow the speech: in the chosen segment, or in the whole video once the search for faces has
// ended.
const drawPeople = () => {
	const value = chosen ? faceOf(chosen) : form.elements.face.value;
	const people = (video.faces ?? []).map((f) => [f.id, f.text, f.thumbnail]);
	if (chosen || video.faces) people.unshift(["auto", "The one who speaks"]);
	if (chosen && !people.some((p) => p[0] === value)) people.push([value, "The chosen one"]);
	faces.querySelector("[data-people]").replaceChildren(...people.map((p) => person(p[0] === value, ...p)));
	mark(false);
	drawMarks();
};

// offerClicks lets a click into the video choose the face there.
const offerClicks = ({ fps, width, height }) => {
	const player = screenOf.querySelector("video");
	player.onclick = picture.onclick = ({ clientX, clientY, currentTarget }) => {
		const box = currentTarget.getBoundingClientRect();
		const x = Math.max(0, Math.min(clientX - box.left, box.width - .01)), y = Math.max(0, Math.min(clientY - box.top, box.height - .01));
		const frame = currentTarget === picture ? 0 : Math.floor(player.currentTime * fps + .01); // a frame is shown from its time on
		chooseFace([frame, Math.floor(x / box.width * width), Math.floor(y / box.height * height)].join());
		drawPeople();
		Object.assign(still.querySelector("i").style, { left: `${x}px`, top: `${y}px` });
		mark(true);
	};
};

// find has the service look for the faces in the video, and shows them.
const find = async () => {
	forget();
	const addresses = await sendAll(fields.slice(0, 1), "Canceled.");
	if (!addresses) return;
	busy(false);
	if (still.hidden && /^https?:/.test(addresses[0])) showVideo(undefined, addresses[0]);
	await findIn(addresses[0]);
};

// findIn finds the faces in the video with an address.
const findIn = async (source) => {
	const { signal } = finding = new AbortController();
	try {
		const found = await follow(form.dataset.analyses, signal, { video: source }, ({ status, percent }) =>
			tell(status === "queued" ? "The search for faces is waiting for its turn." : `Looking for faces: ${percent} %`));
		if (!found.video) throw new Error(`${found.problem ?? "The faces are no longer kept"}.`);
		tell(found.faces?.length ? "Whose mouth follows the speech?" : "No face was found.");
		const seconds = (time) => time.toFixed(1);
		const people = (found.faces ?? []).map((f, i) => ({ ...f, text: `Face ${i + 1}: ${seconds(f.first_second)}–${seconds(f.last_second)} s` }));
		know({ ...found.video, faces: people });
		offerClicks(found.video);
	} catch (problem) {
		if (!signal.aborted) tell(problem.message);
	}
};

// show shows the name of the chosen file, which replaces an address.
const show = (field) => {
	const file = input(field).files[0];
	const more = input(field).files.length - 1;
	field.querySelector(".choose span").textContent = file ? `${file.name}, ${size(file.size)}${more > 0 ? ` and ${more} more` : ""}` : "Choose a file";
	field.classList.toggle("chosen", Boolean(file));
	field.querySelector("[data-remove]").hidden = !file && !ref(field);
	address(field).disabled = Boolean(file);
};

const choose = (field) => {
	const file = input(field).files[0], large = file && file.size > Number(field.dataset.max);
	show(field);
	say(large ? `The file ${file.name} is too large.` : "");
	if (field === fields[1]) {
		listSpeeches();
		hear(file);
	}
	if (field !== fields[0]) return;
	forget(); // they are those of another video
	showVideo(file);
	faces.querySelector("[data-find]").hidden = Boolean(file);
	if (file && !large) look(field, file);
};

// look sends a video as soon as it is chosen, and finds its faces meanwhile.
const look = async (field, file) => {
	if (sending.signal.aborted) sending = new AbortController();
	tell("Sending the video, to find its faces …");
	try {
		const source = await upload(field, file);
		if (input(field).files[0] === file) await findIn(source);
	} catch (problem) {
		if (problem.name !== "AbortError") tell(problem.message);
		else tell("");
	}
};

const acceptDrops = (field) => {
	const over = (yes) => (event) => {
		event.preventDefault();
		field.classList.toggle("over", yes && !field.disabled);
	};
	field.addEventListener("dragover", over(true));
	field.addEventListener("dragleave", over(false));
	field.addEventListener("drop", (event) => {
		over(false)(event);
		if (field.disabled || !event.dataTransfer.files.length) return;
		if (input(field).multiple || event.dataTransfer.files.length === 1) input(field).files = event.dataTransfer.files;
		else return say("Drop one file here.");
		choose(field);
	});
};

if (form) {
	form.addEventListener("submit", start);
	form.querySelector("[data-cancel]").addEventListener("click", () => sending.abort());
	form.addEventListener("input", () => { // an estimate is that of the content before
		estimating.abort();
		tellEstimate("");
	});
	form.querySelector("[data-estimate]").hidden = false;
	form.querySelector("[data-estimate]").addEventListener("click", estimate);
	faces.hidden = false;
	faces.querySelector("[data-find]").addEventListener("click", find);
	address(fields[0]).addEventListener("input", () => {
		forget();
		showVideo();
	});
	for (const field of fields) {
		input(field).addEventListener("change", () => choose(field));
		field.querySelector("[data-remove]").addEventListener("click", () => {
			input(field).value = "";
			choose(field);
			if (ref(field)) removeAudio(field);
			else input(field).focus();
		});
		acceptDrops(field);
	}
	// Also if a person comes back: after scripts ran, browsers restore the files, the addresses, and
	// the number of the request that was made already.
	addEventListener("pageshow", () => {
		form.elements.once.value = crypto.getRandomValues(new Uint32Array(4)).join("-");
		busy(false);
		fields.forEach(show);
		showVideo(input(fields[0]).files[0]);
		listSpeeches();
		hear(input(fields[1]).files[0]);
		showSegments();
	});
}
