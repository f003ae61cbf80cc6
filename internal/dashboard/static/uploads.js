// The form of a new request: files go straight to storage, with their progress,
// and the form then names them as it names addresses.
const form = document.querySelector("form[data-uploads]");
let sending = new AbortController(); // ends what is under way

const say = (problem) => {
	const place = form.querySelector("[data-problem]");
	place.textContent = problem;
	place.hidden = !problem;
};

// busy shows that files are on their way, and lets nothing else be done than to
// cancel.
const busy = (yes) => {
	form.querySelector("[data-start]").disabled = yes;
	form.querySelector("[data-cancel]").hidden = !yes;
	for (const sent of form.querySelectorAll("[data-sent]")) sent.hidden = !yes || !sent.closest("fieldset").querySelector("[data-file]").files.length;
};

const size = (bytes) => bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;

// name is the input that names a field's medium in the form.
const name = (field) => form.elements[field.dataset.drop];

// announce asks where a file may go.
const announce = async (kind, file) => {
	const body = new URLSearchParams({ type: kind, size: file.size, csrf: form.elements.csrf.value });
	const answer = await fetch(form.dataset.uploads, { method: "POST", body, signal: sending.signal });
	if (!answer.headers.get("Content-Type")?.startsWith("application/json")) throw new Error("Your session has ended: sign in again.");
	const made = await answer.json();
	if (!answer.ok) throw new Error(`${made.error}.`);
	return made;
};

// put sends a file. fetch can't tell how much of it went.
const put = (made, file, field) => new Promise((done, failed) => {
	sending.signal.throwIfAborted();
	const call = new XMLHttpRequest();
	sending.signal.addEventListener("abort", () => call.abort());
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

// send sends the file of a field, if one is chosen, and returns its name in the form.
const send = async (field) => {
	const address = name(field).value.trim();
	const file = field.querySelector("[data-file]").files[0];
	if (!file && !address) throw new Error(`Choose ${field.dataset.drop === "video" ? "a video" : "an audio"}, or give its address.`);
	if (!file) return address;
	const made = await announce(field.dataset.drop, file);
	await put(made, file, field);
	return made.source;
};

const start = async (event) => {
	event.preventDefault();
	say("");
	busy(true);
	sending = new AbortController();
	try {
		const fields = [...form.querySelectorAll("[data-drop]")];
		const sources = await Promise.all(fields.map(send));
		fields.forEach((field, i) => { name(field).disabled = false; name(field).value = sources[i]; });
		form.submit();
	} catch (problem) {
		sending.abort();
		busy(false);
		say(problem.name === "AbortError" ? "Canceled. Nothing was started." : problem.message);
	}
};

// choose shows which file is chosen, in place of an address.
const choose = (field) => {
	const file = field.querySelector("[data-file]").files[0];
	field.querySelector(".choose span").textContent = file ? `${file.name}, ${size(file.size)}` : "Choose a file";
	field.classList.toggle("chosen", Boolean(file));
	name(field).disabled = Boolean(file);
	say(file && file.size > Number(field.dataset.max) ? `The file ${file.name} is too large.` : "");
};

const acceptDrops = (field) => {
	const over = (yes) => (event) => {
		event.preventDefault();
		field.classList.toggle("over", yes);
	};
	field.addEventListener("dragover", over(true));
	field.addEventListener("dragleave", over(false));
	field.addEventListener("drop", (event) => {
		over(false)(event);
		if (!event.dataTransfer.files.length) return;
		field.querySelector("[data-file]").files = event.dataTransfer.files;
		choose(field);
	});
};

if (form) {
	form.addEventListener("submit", start);
	form.querySelector("[data-cancel]").addEventListener("click", () => sending.abort());
	for (const field of form.querySelectorAll("[data-drop]")) {
		field.querySelector("[data-file]").addEventListener("change", () => choose(field));
		acceptDrops(field);
		choose(field);
	}
}
