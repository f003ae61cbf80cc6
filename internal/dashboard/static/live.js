// A page with an element that has data-live, a number of milliseconds, is fetched
// again until the server says that it is final. What changes is in elements with
// data-part; where the page as a whole changes at the end, it has data-whole.
const refresh = async () => {
	const live = document.querySelector("[data-live]");
	try {
		const answer = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "manual" });
		// A redirect, which is 0 and may lead to another site, or what stays refused.
		if ([0, 401, 403, 404].includes(answer.status)) return location.reload();
		if (answer.ok) {
			const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
			const over = !fresh.querySelector("[data-live]");
			if (over && live.dataset.whole !== undefined) return location.reload();
			for (const part of document.querySelectorAll("[data-part]")) update(part, fresh.getElementById(part.id));
			if (over) return;
		}
	} catch {
		// The network is away for a moment: try again.
	}
	watch();
};

// update shows what is new in a part. A link in it that has the focus keeps it.
const update = (part, fresh) => {
	localize(fresh);
	fresh.querySelectorAll("img").forEach(keep);
	if (part.innerHTML === fresh.innerHTML) return;
	const focus = part.contains(document.activeElement) && document.activeElement.getAttribute("href");
	part.replaceChildren(...fresh.childNodes);
	if (focus) [...part.querySelectorAll("a")].find((link) => link.getAttribute("href") === focus)?.focus({ preventScroll: true });
};

// keep gives a picture the address that it was shown by before: only the signature of the
// new one differs. It does so for an hour (in ms), since a signature ends after two.
const hour = 3_600_000;
const shown = new Map(); // by its path: the address, and when it was first shown
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

// Times are read in the reader's own zone and language.
const localize = (root) => {
	for (const time of root.querySelectorAll("time")) {
		time.title = time.textContent;
		time.textContent = new Date(time.dateTime).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
	}
};

localize(document);
document.querySelectorAll("img").forEach(keep);
watch();
