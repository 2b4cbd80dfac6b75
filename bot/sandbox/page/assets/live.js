// Shows what changes, as it changes; without this script the page loads itself again every few seconds.
"use strict";

const live = document.getElementById("live");

function openSections() {
  return new Set([...live.querySelectorAll("details[id][open]")].map((section) => section.id));
}

async function show() {
  const answer = await fetch("live");
  if (!answer.ok) return;
  const version = answer.headers.get("X-Version");
  if (version === live.dataset.version) return;
  const open = openSections();
  const html = await answer.text();
  live.innerHTML = html; // made by this page's own server, from escaped text
  live.dataset.version = version;
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
}

async function send(event) {
  const form = event.target;
  event.preventDefault();
  const pressed = form.querySelector("button");
  pressed.disabled = true;
  const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
  pressed.disabled = form.action.endsWith("/fix");
  if (answer.ok) {
    form.querySelector("textarea")?.form.reset();
    await show();
  }
}

document.addEventListener("submit", send);
document.getElementById("body").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.target.form.requestSubmit();
});
new EventSource("events").addEventListener("message", (event) => {
  if (event.data !== live.dataset.version) show();
});
