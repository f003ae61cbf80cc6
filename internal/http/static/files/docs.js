// The pages of documentation. The search shows what it finds above the page while somebody types; "/" leads to it.
const find = document.querySelector("[data-find]");
if (find) {
	const found = document.querySelector("#found"), before = found.innerHTML, form = find.form;
	let asked;
	find.addEventListener("input", async () => {
		asked?.abort();
		const mine = (asked = new AbortController());
		if (!find.value.trim()) {
			found.innerHTML = before;
			return;
		}
		try {
			const answer = await fetch(`${form.action}?q=${encodeURIComponent(find.value)}`, { signal: mine.signal });
			const page = new DOMParser().parseFromString(await answer.text(), "text/html");
			if (!mine.signal.aborted && answer.ok) {
				found.replaceChildren(...page.querySelector("#found").childNodes);
				scrollTo(0, 0);
			}
		} catch {
			// The next letter asks again.
		}
	});
	addEventListener("keydown", (event) => {
		if (event.key === "/" && !event.target.matches("input, textarea")) {
			event.preventDefault();
			find.focus();
		}
	});
}
