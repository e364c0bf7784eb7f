// What script adds to pages that work without it: keys, the next record at once, files that are dropped.
"use strict";

const reload = document.querySelector("main[data-reload]");
if (reload) setTimeout(() => location.reload(), Number(reload.dataset.reload));

document.querySelectorAll("form[data-busy]").forEach((form) =>
  form.addEventListener("submit", () => {
    const state = document.createElement("p");
    state.setAttribute("role", "status");
    state.textContent = form.dataset.busy;
    form.append(state);
  }));

document.querySelectorAll("form[data-drop]").forEach((form) => {
  const over = (on) => (event) => { event.preventDefault(); form.classList.toggle("over", on); };
  form.addEventListener("dragover", over(true));
  form.addEventListener("dragleave", over(false));
  form.addEventListener("drop", (event) => {
    over(false)(event);
    const input = form.querySelector("input[type=file]");
    if (event.dataTransfer.files.length) { input.files = event.dataTransfer.files; form.requestSubmit(); }
  });
});

const main = document.querySelector("main[data-judge]");
if (main) judging();

function judging() {
  const { judge, undo, topic } = main.dataset;
  const state = document.getElementById("state");
  const counter = document.getElementById("n-read");
  const keys = document.getElementById("keys");
  const buttons = document.querySelectorAll(".answers button");
  let chain = Promise.resolve(); // answers are sent one after the other, in order
  let unsent = 0;
  const answered = new Set(); // here, though the server may not know it yet

  const desk = () => document.getElementById("desk");
  const articles = () => [...desk().querySelectorAll("article")];
  const current = () => desk().querySelector("article:not([hidden])");

  // Asks until there is an answer, where asking twice does no harm: a server that is started again goes on.
  async function reach(url, options, again) {
    for (;;) {
      try {
        return await fetch(url, options);
      } catch (problem) {
        if (!again) throw problem;
        state.textContent = "· not saved yet: the server does not answer; trying again";
        await new Promise((done) => setTimeout(done, 2000));
      }
    }
  }

  async function ask(url, fields, again = true) {
    const options = { headers: { "x-part": "1" }, credentials: "same-origin" };
    if (fields) {
      options.method = "POST";
      options.body = new URLSearchParams({ csrf: document.body.dataset.csrf, topic, ...fields });
    }
    const response = await reach(url, options, again);
    if (!response.ok) throw new Error(response.status === 401 ? "you are logged out" : `the server said ${response.status}`);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    return page.getElementById("desk");
  }

  // Take over what the server has on the desk; what is being read stays as it is, what was answered does not come back.
  function take(found) {
    const shown = current();
    const fresh = [...found.querySelectorAll("article")].filter((one) => !answered.has(one.dataset.id));
    articles().filter((one) => one !== shown).forEach((one) => one.remove());
    if (shown && !shown.dataset.id) shown.remove();
    fresh.filter((one) => one.dataset.id !== current()?.dataset.id).forEach((one) => {
      one.hidden = Boolean(current());
      desk().append(one);
      if (!one.hidden) one.querySelector(".title").focus({ preventScroll: true });
    });
    if (!unsent) counter.textContent = found.dataset.read;
    ready();
  }

  function ready() {
    const there = Boolean(current()?.dataset.id);
    buttons.forEach((button) => { button.disabled = !there && !button.classList.contains("undo"); });
    const field = document.querySelector("#answer input[name=id]");
    field.value = current()?.dataset.id ?? "";
  }

  function send(work) {
    unsent += 1;
    state.textContent = "· saving…";
    chain = chain.then(work).then(() => {
      unsent -= 1;
      if (!unsent) state.textContent = "· saved";
    }).catch((problem) => {
      // Nothing was lost silently: the page is made anew from what the server has.
      state.textContent = `· not saved: ${problem.message}; loading the page again`;
      setTimeout(() => location.reload(), 2000);
    });
  }

  function answer(said) {
    const shown = current();
    if (!shown?.dataset.id) return;
    const id = shown.dataset.id;
    const next = articles().find((one) => one !== shown);
    answered.add(id);
    shown.remove();
    scrollTo(0, 0);
    counter.textContent = String(Number(counter.textContent) + (said === "skip" ? 0 : 1));
    if (next) {
      next.hidden = false;
      next.querySelector(".title").focus({ preventScroll: true });
    }
    ready();
    send(async () => {
      const quick = await ask(judge, { id, answer: said });
      if (!current()) take(quick);
      if (said === "skip") answered.delete(id); // it comes again, at the end
      if (articles().length < 2) take(await ask(`${judge}?topic=${encodeURIComponent(topic)}`));
    });
  }

  function back() {
    send(async () => {
      const found = await ask(undo, {}, false);
      desk().replaceWith(found);
      articles().forEach((one) => answered.delete(one.dataset.id));
      counter.textContent = found.dataset.read;
      current()?.querySelector(".title").focus({ preventScroll: true });
      ready();
    });
  }

  document.getElementById("answer").addEventListener("submit", (event) => {
    event.preventDefault();
    answer(event.submitter.value);
  });
  document.getElementById("undo").addEventListener("submit", (event) => { event.preventDefault(); back(); });

  desk().parentElement.addEventListener("submit", (event) => {
    if (!event.target.matches(".note")) return;
    event.preventDefault();
    const fields = Object.fromEntries(new FormData(event.target));
    const button = event.target.querySelector("button");
    send(async () => {
      const response = await reach(event.target.action, { method: "POST", body: new URLSearchParams(fields) }, true);
      if (!response.ok) throw new Error(`the server said ${response.status}`);
    });
    button.blur();
  });

  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input:not([type=checkbox]), textarea, select");
    if (typing && event.key === "Escape") { event.target.blur(); return; }
    if (typing || !keys.checked || event.ctrlKey || event.altKey || event.metaKey) return;
    const says = { r: "relevant", i: "irrelevant", u: "unsure", s: "skip" }[event.key.toLowerCase()];
    if (says) { event.preventDefault(); answer(says); }
    else if (event.key.toLowerCase() === "b") { event.preventDefault(); back(); }
    else if (event.key.toLowerCase() === "n") { event.preventDefault(); current()?.querySelector("textarea")?.focus(); }
    else if (event.key.toLowerCase() === "w") {
      event.preventDefault();
      const why = current()?.querySelector("details");
      if (why) why.open = !why.open;
    }
  });
}
