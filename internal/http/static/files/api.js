// The pages about the API. The search keeps those calls in the menu that have all its words. The samples take the person's own key, which stays
// in this tab, and run.
const search = document.querySelector("[data-search]");
if (search) {
	search.parentElement.hidden = false;
	search.addEventListener("input", () => {
		const words = search.value.toLowerCase().split(/\s+/);
		for (const part of document.querySelectorAll(".calls p")) {
			const head = part.previousElementSibling?.textContent ?? "";
			for (const link of part.children) {
				const text = `${link.textContent} ${link.title} ${head}`.toLowerCase();
				link.hidden = !words.every((word) => text.includes(word));
			}
			if (part.previousElementSibling?.matches("h3")) part.previousElementSibling.hidden = [...part.children].every((link) => link.hidden);
		}
	});
}

const key = document.querySelector("[data-key]");
if (key) {
	const samples = [...document.querySelectorAll(".sample .copy pre")].map((pre) => [pre, pre.textContent]);
	const fill = () => {
		for (const [pre, text] of samples) pre.textContent = key.value ? text.replace("$LIPSYNC_KEY", () => key.value.trim()) : text;
	};
	document.querySelector("[data-keyed]").hidden = false;
	key.value = sessionStorage.getItem("lipsync key") ?? "";
	fill();
	key.addEventListener("input", () => {
		sessionStorage.setItem("lipsync key", key.value.trim());
		fill();
	});
	for (const run of document.querySelectorAll(".run")) {
		run.hidden = false;
		run.addEventListener("submit", async (event) => {
			event.preventDefault();
			const shown = run.querySelector("pre"), text = run.querySelector("textarea")?.value;
			const body = run.querySelector("[type=file]") ? new FormData(run) : text;
			const tell = (text) => {
				shown.hidden = false;
				shown.textContent = text;
			};
			if (!key.value.trim()) {
				key.focus();
				return tell("Give your key first, above.");
			}
			const path = run.dataset.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(run.elements[name].value.trim()));
			try {
				const answer = await fetch(path, {
					method: run.dataset.method, body, credentials: "omit",
					headers: { Authorization: `Bearer ${key.value.trim()}`, ...(text && { "Content-Type": "application/json" }) },
				});
				let said = await answer.text();
				try {
					said = JSON.stringify(JSON.parse(said), null, 2);
				} catch {
					// It isn't JSON.
				}
				tell(`${answer.status} ${answer.statusText}\n${said.slice(0, 20000)}`);
			} catch {
				tell("The service can’t be reached from this page.");
			}
		});
	}
}
