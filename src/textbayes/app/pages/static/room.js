// What script adds to pages that work without it: keys, the next record at once, files that are dropped, and an outbox:
// answers and notes are kept in the browser until the server has them.
"use strict";

const reload = document.querySelector("main[data-reload]");
if (reload) setTimeout(() => location.reload(), Number(reload.dataset.reload));

document.querySelectorAll("form[data-busy]").forEach((form) =>
  form.addEventListener("submit", () => {
    const state = document.createElement("p");
    state.setAttribute("role", "status");
    state.textContent = form.dataset.busy;
    form.append(state);
    setTimeout(() => { state.textContent += " The first time takes longer: code is being compiled."; }, 4000);
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

const tickAll = document.getElementById("tick-all");
if (tickAll) {
  tickAll.hidden = false;
  tickAll.addEventListener("change", (event) =>
    document.querySelectorAll("input[form=many][name=id]").forEach((one) => { one.checked = event.target.checked; }));
}

const main = document.querySelector("main[data-judge]");
const loaded = secret(); // this page, as it was loaded
const boxes = new Map([...document.querySelectorAll("[data-project]")].map((one) => [one.dataset.project, outbox(one.dataset.project)]));
keepNotes();
keepTags();
if (main) judging();
boxes.forEach((box) => box.send()); // what an earlier page could not send

function secret() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function pause(milliseconds) { return new Promise((done) => setTimeout(done, milliseconds)); }

function parsed(text) { return new DOMParser().parseFromString(text, "text/html"); }

function tell(text) {
  const state = document.getElementById("state");
  if (state) state.textContent = text;
}

// What a person has said in a project and the server may not have yet: in the browser's storage, sent in order, each with
// a key by which the server knows what it has already. Pages of the project send on what an earlier page left.
function outbox(project) {
  const name = `textbayes:${document.body.dataset.person}:${project}`;
  let memory = null; // where the browser stores nothing
  let sending = false;
  let failing = false;
  const box = { items, add, send, done: () => {}, idle: () => {}, trip: 0 }; // milliseconds that a request took last

  function items() {
    if (memory) return memory;
    try { return JSON.parse(localStorage.getItem(name) ?? "[]"); } catch { return memory = []; }
  }

  function keep(list) {
    if (memory) { memory = list; return; }
    try {
      if (list.length) localStorage.setItem(name, JSON.stringify(list));
      else localStorage.removeItem(name);
    } catch { memory = list; }
  }

  function add(kind, url, fields) {
    keep([...items(), { key: secret(), page: loaded, at: Date.now(), kind, url, fields }]);
    tell("· saving…");
    send();
  }

  // Sent again until an answer comes that is ours: a server that is down, a gateway that says 502, a broken network.
  async function deliver(item) {
    const body = new URLSearchParams({ csrf: document.body.dataset.csrf, key: item.key });
    Object.entries(item.fields).forEach(([name, values]) => [values].flat().forEach((one) => body.append(name, one)));
    const options = { method: "POST", body, headers: { "x-part": "1" }, credentials: "same-origin", keepalive: true };
    const asked = performance.now();
    let response, page;
    try {
      response = await fetch(item.url, { ...options, signal: AbortSignal.timeout(30000) });
      page = parsed(await response.text());
      box.trip = performance.now() - asked;
    } catch {
      box.trip = Infinity;
      return { again: "the server is not responding" };
    }
    const desk = page.getElementById("desk");
    const problem = page.querySelector(".problem")?.textContent;
    if (response.ok && desk) return { desk };
    if (response.status === 401) return { wait: "you are logged out; log in and open this project to send it" };
    if (response.status === 403 && item.page === loaded) return { wait: "this page has expired; reload it to send the answer" };
    if (!problem || [408, 429].includes(response.status) || response.status >= 500) return { again: `the server returned error ${response.status}` };
    return { refused: problem };
  }

  async function send() {
    if (sending) return;
    sending = true;
    let said = "· saved";
    for (let item = items()[0]; item; item = items()[0]) {
      const found = await deliver(item);
      failing = Boolean(found.again || found.wait);
      if (found.wait) { said = `· not saved yet: ${found.wait}`; break; }
      if (found.again) {
        tell(`· not saved yet: ${found.again}; trying again`);
        await pause(2000);
        continue;
      }
      keep(items().filter((one) => one.key !== item.key));
      if (found.refused) said = `· not saved: ${found.refused}`;
      box.done(item, found.desk);
      tell(items().length ? "· saving…" : said);
    }
    tell(failing || document.getElementById("state")?.textContent ? said : "");
    sending = false;
    if (!failing) box.idle();
  }

  addEventListener("online", send);
  addEventListener("focus", send);
  addEventListener("beforeunload", (event) => {
    // What is on its way arrives, or is sent by the next page; one who leaves while nothing arrives is asked.
    if (items().length && (failing || items()[0].at < Date.now() - 2000)) event.preventDefault();
  });
  return box;
}

// Notes save themselves: a moment after the last letter, and when the field is left, however.
function keepNotes() {
  const waiting = new Map(); // form → timer

  function save(form) {
    clearTimeout(waiting.get(form));
    if (!waiting.delete(form)) return;
    const { csrf, ...fields } = Object.fromEntries(new FormData(form));
    boxes.get(document.body.dataset.project).add("note", form.action, fields);
  }

  document.addEventListener("input", (event) => {
    const form = event.target.closest("form.note");
    if (!form) return;
    clearTimeout(waiting.get(form));
    waiting.set(form, setTimeout(() => save(form), 800));
  });
  document.addEventListener("focusout", (event) => {
    if (event.target.closest("form.note")) save(event.target.closest("form.note"));
  });
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("form.note")) return;
    event.preventDefault();
    save(event.target);
    event.submitter?.blur();
  });
  const all = () => [...waiting.keys()].forEach(save);
  addEventListener("pagehide", all);
  addEventListener("beforeunload", all);
  showNotes();
}

// What was written and is not sent yet stands in its field.
function showNotes() {
  boxes.get(document.body.dataset.project)?.items().filter((item) => item.kind === "note").forEach((item) => {
    document.querySelectorAll("form.note").forEach((form) => {
      if (form.elements.id.value === item.fields.id) form.elements.text.value = item.fields.text;
    });
  });
}

// Tags save themselves when they are ticked.
function keepTags() {
  document.querySelectorAll("form.tags button").forEach((one) => { one.hidden = true; });
  document.addEventListener("change", (event) => {
    const form = event.target.closest("form.tags");
    if (!form) return;
    const given = new FormData(form);
    boxes.get(document.body.dataset.project).add("tags", form.action, {
      topic: given.get("topic") ?? "", id: given.get("id"), tag: given.getAll("tag"),
    });
  });
}

function judging() {
  const { judge, undo, release, topic } = main.dataset;
  const box = boxes.get(document.body.dataset.project);
  const counter = document.getElementById("n-read");
  const keys = document.getElementById("keys");
  const live = document.getElementById("share"); // accuracy, where texts get labels
  const buttons = document.querySelectorAll(".answers button");

  const desk = () => document.getElementById("desk");
  const articles = () => [...desk().querySelectorAll("article")];
  const current = () => desk().querySelector("article:not([hidden])");
  let said = 0; // answers given on this page: what was asked for before the last of them may be old
  const answered = new Set(); // here, though what the server sends may be older
  const unsent = (kind) => box.items().filter((item) => item.kind === kind && item.fields.topic === topic);

  // Take over what the server has on the desk; what is being read stays as it is, what was answered does not come back.
  function take(found, old = false) {
    unsent("judge").forEach((item) => answered.add(item.fields.id));
    const shown = answered.has(current()?.dataset.id) ? null : current();
    const fresh = [...found.querySelectorAll("article")].filter((one) => !answered.has(one.dataset.id));
    articles().filter((one) => one !== shown).forEach((one) => one.remove());
    if (shown && !shown.dataset.id) shown.remove();
    fresh.filter((one) => one.dataset.id !== current()?.dataset.id).forEach((one) => {
      one.hidden = Boolean(current());
      desk().append(one);
      const elsewhere = document.activeElement?.closest("header, nav"); // somebody is about to leave: the focus stays
      if (!one.hidden && !elsewhere) one.querySelector(".title").focus({ preventScroll: true });
    });
    if (!old) count(found);
    showNotes();
    desk().querySelectorAll("form.tags button").forEach((one) => { one.hidden = true; });
    ready();
  }

  function count(found) {
    const more = unsent("judge").filter((item) => item.fields.answer !== "skip").length;
    counter.textContent = String(Number(found.dataset.read) + more);
    if (live) live.textContent = found.dataset.share;
  }

  function ready() {
    const there = Boolean(current()?.dataset.id);
    buttons.forEach((button) => { button.disabled = !there && !button.classList.contains("undo"); });
    const field = document.querySelector("#answer input[name=id]");
    field.value = current()?.dataset.id ?? "";
  }

  // The labels that are ticked, as an answer; the ticks are gone for the next text.
  function ticked() {
    const boxes = [...document.querySelectorAll("#answer input[name=label]")];
    const given = boxes.filter((one) => one.checked).map((one) => one.value);
    boxes.forEach((one) => { one.checked = false; });
    return given.join(" ") || "none";
  }

  function answer(given, reason = "") {
    const shown = current();
    if (!shown?.dataset.id) return;
    if (given === "irrelevant" && !reason && "reasons" in main.dataset) { // a full text is excluded for a reason
      tell("· choose the reason: its number, or its button");
      shown.querySelector(".reasons button")?.focus();
      return;
    }
    if (given === "labels") given = ticked();
    const id = shown.dataset.id;
    const next = articles().find((one) => one !== shown);
    document.activeElement?.blur(); // a note is saved before its record goes
    shown.remove();
    said += 1;
    answered.add(id);
    scrollTo(0, 0);
    counter.textContent = String(Number(counter.textContent) + (given === "skip" ? 0 : 1));
    if (next) {
      next.hidden = false;
      next.querySelector(".title").focus({ preventScroll: true });
    }
    ready();
    box.add("judge", judge, { topic, id, answer: given, reason });
  }

  box.done = (item, found) => {
    if (item.fields.topic !== topic) return;
    if (!found || item.fields.answer === "skip") answered.delete(item.fields.id); // it may come again
    if (!found) return;
    if (item.kind === "undo") {
      said += 1;
      found.querySelectorAll("article").forEach((one) => answered.delete(one.dataset.id));
      articles().forEach((one) => one.remove());
      take(found);
      current()?.querySelector(".title").focus({ preventScroll: true });
    } else if (!current() && found.querySelector("article:not([data-id=''])")) take(found); // else more is asked for
  };

  // Whenever nothing is left to send, there is a record to read and one after it; on a slow line up to ten are fetched
  // ahead, again when half of them are left. On a quick one they are not: their order would know less of the answers.
  const ahead = () => Math.min(10, 2 + Math.floor(box.trip / 250));
  let filling = false;
  let lost = false; // whether the server did not answer when it was asked for more
  box.idle = async () => {
    if (filling) return;
    filling = true;
    while (articles().filter((one) => one.dataset.id).length <= ahead() / 2) {
      const before = said, asked = performance.now();
      try {
        const response = await fetch(`${judge}?topic=${encodeURIComponent(topic)}&ahead=${ahead()}`, { headers: { "x-part": "1" } });
        const found = parsed(await response.text()).getElementById("desk");
        if (found) {
          box.trip = Math.max(box.trip, performance.now() - asked);
          const old = said !== before; // answers were given meanwhile: it may hold nothing but what they were given to
          if (!old || found.querySelector("article:not([data-id=''])")) take(found, old);
          if (lost) tell("· saved");
          lost = false;
          if (old && !current() && !box.items().length) continue; // nobody else would ask again
          break;
        }
        if (response.ok || response.status < 500) { tell("· the next record could not be loaded; load the page again"); break; }
      } catch { /* asked again */ }
      lost = true;
      box.trip = Infinity;
      tell("· the server is not responding; trying again");
      await pause(2000);
    }
    filling = false;
  };

  // Whoever leaves lets others have what was fetched ahead; what has an answer that is not sent stays theirs.
  addEventListener("pagehide", () => {
    if (box.items().length || articles().length <= 2) return;
    const body = new URLSearchParams({ csrf: document.body.dataset.csrf, topic });
    fetch(release, { method: "POST", body, credentials: "same-origin", keepalive: true }).catch(() => {});
    articles().slice(2).forEach((one) => one.remove());
  });

  const guess = document.getElementById("guess"); // a person may hide it, on all projects of this browser
  if (guess) {
    try { guess.checked = localStorage.getItem("textbayes:guess") !== "hidden"; } catch { /* shown, then */ }
    const show = () => main.classList.toggle("no-guess", !guess.checked);
    guess.addEventListener("change", () => {
      show();
      try { localStorage.setItem("textbayes:guess", guess.checked ? "shown" : "hidden"); } catch { /* for this page */ }
    });
    show();
  }

  document.getElementById("answer").addEventListener("submit", (event) => {
    event.preventDefault();
    answer(event.submitter.value);
  });
  desk().parentElement.addEventListener("submit", (event) => {
    if (!event.target.matches("form.reasons")) return;
    event.preventDefault();
    answer("irrelevant", event.submitter.value);
  });
  document.getElementById("undo").addEventListener("submit", (event) => {
    event.preventDefault();
    box.add("undo", undo, { topic });
  });
  document.querySelectorAll("#answer, #undo").forEach((form) => form.addEventListener("click", (event) => {
    if (event.detail > 1) event.preventDefault(); // a double click is one answer, too
  }));
  if (box.items().length) take(desk().cloneNode(true)); // without what was answered before this page was loaded

  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input:not([type=checkbox], [type=file]), textarea, select");
    if (event.repeat && !typing) { // a key that is held down is one answer
      if (event.target.closest(".answers, .reasons")) event.preventDefault();
      return;
    }
    if (typing && event.key === "Escape") { event.target.blur(); return; }
    if (typing || !keys.checked || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Enter" && event.target.closest("a, button, summary")) return; // it has its own use there
    // Digits by their place, since on some keyboards they need Shift; and those of the number pad.
    const number = /^(Digit|Numpad)[1-9]$/.test(event.code) ? Number(event.code.at(-1)) - 1 : -1;
    const key = number >= 0 && !event.shiftKey ? String(number + 1) : event.key.length === 1 ? event.key.toUpperCase() : event.key;
    const pressed = document.querySelector(`.answers [aria-keyshortcuts="${CSS.escape(key)}"]`);
    if (number >= 0 && event.shiftKey) {
      current()?.querySelectorAll(".tags input[type=checkbox]")[number]?.click();
    } else if (pressed?.matches("input")) { event.preventDefault(); pressed.checked = !pressed.checked; }
    else if (pressed?.form.id === "undo") { event.preventDefault(); box.add("undo", undo, { topic }); }
    else if (pressed) { event.preventDefault(); answer(pressed.value); }
    else if (number >= 0) {
      const reason = current()?.querySelectorAll(".reasons button")[number]?.value;
      if (reason) answer("irrelevant", reason);
    } else if (event.key.toLowerCase() === "l") {
      const name = document.querySelector("#new-label input[name=name]");
      if (name) { event.preventDefault(); name.focus(); }
    } else if (event.key.toLowerCase() === "n") { event.preventDefault(); current()?.querySelector("textarea")?.focus(); }
    else if (event.key.toLowerCase() === "w") {
      event.preventDefault();
      const why = current()?.querySelector("details");
      if (why) why.open = !why.open;
    }
  });
}
