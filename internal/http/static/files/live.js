// A page with an element that has data-live, a number of milliseconds, is fetched again and again,
// until a fetched page has no such element. The elements with data-part are replaced. If the
// element has data-whole, the page is loaded again at the end.
const refresh = async () => {
	const live = document.querySelector("[data-live]");
	try {
		const answer = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "manual" });
		// A redirect, whose status is 0, or a lasting refusal.
		if ([0, 401, 403, 404].includes(answer.status)) return location.reload();
		if (answer.ok) {
			const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
			const over = !fresh.querySelector("[data-live]");
			if (over && live.dataset.whole !== undefined) return location.reload();
			for (const part of document.querySelectorAll("[data-part]")) update(part, fresh.getElementById(part.id));
			if (over) return;
		}
	} catch {
		// The network fails for a moment: try again.
	}
	watch();
};

// update replaces the content of a part. A link with the focus keeps the focus.
const update = (part, fresh) => {
	localize(fresh);
	fresh.querySelectorAll("img").forEach(keep);
	if (part.innerHTML === fresh.innerHTML) return;
	const focus = part.contains(document.activeElement) && document.activeElement.getAttribute("href");
	part.replaceChildren(...fresh.childNodes);
	if (focus) [...part.querySelectorAll("a")].find((link) => link.getAttribute("href") === focus)?.focus({ preventScroll: true });
};

// keep gives a picture its former address: only the signature of the new one differs. It does so for
// an hour (in ms), since a signature ends after two.
const hour = 3_600_000;
const shown = new Map(); // by the picture's path: its address, and when it was first shown
const keep = (image) => {
	const { pathname } = new URL(image.src);
	const before = shown.get(pathname);
	if (before && Date.now() < before.since + hour) image.setAttribute("src", before.address);
	else shown.set(pathname, { address: image.getAttribute("src"), since: Date.now() });
};

const watch = () => {
	const every = Number(document.querySelector("[data-live]")?.dataset.live);
	if (every) setTimeout(() => document.hidden ? watch() : refresh(), every);
};

// Dates are shown in the reader's own time zone and language; of times nearby, that is in their titles.
const localize = (root) => {
	for (const time of root.querySelectorAll("time")) {
		const at = new Date(time.dateTime);
		time.title = at.toLocaleString(undefined, { dateStyle: "full", timeStyle: "medium" });
		if (time.dataset.date !== undefined) time.textContent = at.toLocaleDateString(undefined, { dateStyle: "medium" });
	}
};

localize(document);
document.querySelectorAll("img").forEach(keep);
watch();
