// The form of a new request: the script sends files to the storage itself, and shows their progress.
// Then the form has their URLs in the fields for addresses.
const form = document.querySelector("form[data-uploads]");
const fields = form ? [...form.querySelectorAll("[data-drop]")] : [];
let sending = new AbortController(); // ends the running calls

const say = (problem) => {
	const place = form.querySelector("[data-problem]");
	place.textContent = problem;
	place.hidden = !problem;
};

// busy shows that files are being sent. Meanwhile a person can only cancel.
const busy = (yes) => {
	form.querySelector("[data-start]").disabled = yes;
	form.querySelector("[data-cancel]").hidden = !yes;
	for (const field of fields) {
		field.disabled = yes;
		field.querySelector("[data-sent]").hidden = !yes || !input(field).files.length;
	}
};

const size = (bytes) => bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;

// input returns the element to choose a field's file, and address the one to type an address instead.
const input = (field) => field.querySelector("[data-file]");
const address = (field) => form.elements[field.dataset.drop];

// announce announces a file, and returns the address to send it to.
const announce = async (kind, file) => {
	const body = new URLSearchParams({ type: kind, size: file.size, name: file.name, csrf: form.elements.csrf.value });
	const answer = await fetch(form.dataset.uploads, { method: "POST", body, signal: sending.signal }).catch((problem) => {
		throw sending.signal.aborted ? problem : new Error("The service can’t be reached: try again.");
	});
	if (answer.ok) return answer.json();
	const text = await answer.text();
	if (answer.headers.get("Content-Type") === "application/json") throw new Error(`${JSON.parse(text).error}.`);
	const page = new DOMParser().parseFromString(text, "text/html"); // the page says why the form was refused
	throw new Error(page.querySelector(".says")?.textContent ?? "The files could not be sent: try again.");
};

// put sends a file. It uses no fetch, which doesn't report progress.
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

// send sends the file of a field, if one is chosen. It returns the URL or the address for the form.
const send = async (field) => {
	const typed = address(field).value.trim();
	const file = input(field).files[0];
	if (!file && !typed) throw new Error(`Choose ${field.dataset.drop === "video" ? "a video" : "an audio"}, or give its address.`);
	if (!file) return typed;
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
		const sources = await Promise.all(fields.map(send));
		// Don't change the inputs: a person who comes back finds them as before.
		form.addEventListener("formdata", ({ formData }) => {
			fields.forEach((field, i) => formData.set(field.dataset.drop, sources[i]));
		}, { once: true });
		form.querySelector("[data-cancel]").hidden = true; // from now on the request can be canceled on its own page
		form.submit();
	} catch (problem) {
		sending.abort();
		busy(false);
		say(problem.name === "AbortError" ? "Canceled. Nothing was started." : problem.message);
	}
};

// show shows the name of the chosen file, which replaces an address.
const show = (field) => {
	const file = input(field).files[0];
	field.querySelector(".choose span").textContent = file ? `${file.name}, ${size(file.size)}` : "Choose a file";
	field.classList.toggle("chosen", Boolean(file));
	field.querySelector("[data-remove]").hidden = !file;
	address(field).disabled = Boolean(file);
};

const choose = (field) => {
	const file = input(field).files[0];
	show(field);
	say(file && file.size > Number(field.dataset.max) ? `The file ${file.name} is too large.` : "");
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
		input(field).files = event.dataTransfer.files;
		choose(field);
	});
};

if (form) {
	form.addEventListener("submit", start);
	form.querySelector("[data-cancel]").addEventListener("click", () => sending.abort());
	for (const field of fields) {
		input(field).addEventListener("change", () => choose(field));
		field.querySelector("[data-remove]").addEventListener("click", () => {
			input(field).value = "";
			choose(field);
			input(field).focus();
		});
		acceptDrops(field);
	}
	// Also if a person comes back: after scripts ran, browsers restore the files, the addresses, and
	// the number of the request that was made already.
	addEventListener("pageshow", () => {
		form.elements.once.value = crypto.getRandomValues(new Uint32Array(4)).join("-");
		busy(false);
		fields.forEach(show);
	});
}
