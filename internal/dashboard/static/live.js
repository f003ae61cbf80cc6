// Pages that change by themselves: each element with data-live, a number of
// milliseconds, is fetched again until the server says that it is final.
const refresh = async (id) => {
	const old = document.getElementById(id);
	try {
		const answer = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "manual" });
		if (!answer.ok) return location.reload(); // a redirect, too: it may lead to another site
		const page = new DOMParser().parseFromString(await answer.text(), "text/html");
		const fresh = page.getElementById(id);
		if (!fresh || (old.dataset.whole !== undefined && !fresh.dataset.live)) return location.reload();
		if (!old.contains(document.activeElement)) {
			old.replaceWith(fresh);
			localize(fresh);
		}
	} catch {
		// The network is away for a moment: try again.
	}
	watch(id);
};

const watch = (id) => {
	const every = Number(document.getElementById(id).dataset.live);
	if (every) setTimeout(() => document.hidden ? watch(id) : refresh(id), every);
};

// Times are read in the reader's own zone and language.
const localize = (root) => {
	for (const time of root.querySelectorAll("time")) {
		time.title = time.textContent;
		time.textContent = new Date(time.dateTime).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
	}
};

localize(document);
for (const live of document.querySelectorAll("[data-live]")) watch(live.id);
