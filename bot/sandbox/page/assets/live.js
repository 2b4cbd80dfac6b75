// Shows what changes, as it changes. Without this script the page loads itself again every few seconds.
"use strict";

const page = document.body;

async function show() {
  const answer = await fetch("live");
  if (!answer.ok) return;
  const { version, parts } = await answer.json();
  if (version === page.dataset.version) return;
  const open = [...document.querySelectorAll("details[id][open]")].map((section) => section.id);
  for (const [id, html] of Object.entries(parts)) {
    document.getElementById(id).innerHTML = html; // made by this page's own server, from escaped text
  }
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  page.dataset.version = version;
}

async function send(event) {
  event.preventDefault();
  const form = event.target;
  const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
  if (!answer.ok) return;
  form.querySelector("textarea")?.form.reset();
  await show();
}

document.addEventListener("submit", send);
document.getElementById("body").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.target.form.requestSubmit();
});
new EventSource("events").addEventListener("message", (event) => {
  if (event.data !== page.dataset.version) show();
});
