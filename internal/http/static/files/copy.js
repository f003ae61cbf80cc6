// Buttons with data-copy copy the text of the element that they name.
for (const button of document.querySelectorAll("[data-copy]")) {
	button.addEventListener("click", async () => {
		const source = document.getElementById(button.dataset.copy);
		try {
			await navigator.clipboard.writeText(source.textContent);
			button.textContent = "Copied";
		} catch {
			getSelection().selectAllChildren(source); // no clipboard: the text is selected for Ctrl-C
		}
	});
}
