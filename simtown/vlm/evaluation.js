"use strict";

// rows.js beside this page calls evaluation.begin with the verdict, what the figures show, and a row a question.
const evaluation = (() => {
  const $ = (id) => document.getElementById(id);
  const escape = (text) => String(text ?? "").replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
  const OUTCOMES = ["right", "wrong", "unread", "refused"];
  const AT_ONCE = 120, LISTED = 10, UNREAD = "(unread)";
  let about, rows, shown = [], drawn = 0, at = -1;
  const state = { condition: "picture", family: "", outcome: "", words: "", gold: "", answer: "" };

  // ---------------------------------------------------------------- the verdict, and figures

  function drawVerdict() {
    const [first, ...others] = about.verdict;
    const limits = about.sentences.map((line) => `<li>${escape(line)}</li>`).join("");
    $("verdict").innerHTML = `<p>${escape(first)}</p>${others.map((line) => `<p>${escape(line)}</p>`).join("")}${limits && `<ul>${limits}</ul>`}`;
  }

  const figure = (title, body, caption) => `<figure><h3>${escape(title)}</h3>${body}<figcaption>${escape(caption)}</figcaption></figure>`;

  /** Accuracy by family with its interval, and what guesses and the best constant have. */
  function drawFamilies() {
    const left = 120, right = 400, step = 24, x = (share) => left + share * (right - left);
    const lines = about.families.map((it, place) => {
      const y = 26 + place * step;
      return `<g><title>${escape(it.name)}: ${it.accuracy.toFixed(3)} (${it.low.toFixed(3)} to ${it.high.toFixed(3)}), n ${it.n}</title>
        <text x="${left - 8}" y="${y + 4}" text-anchor="end">${escape(it.name)}</text><path class="chance" d="M${x(it.chance)} ${y - 9}v18"/>
        <path class="constant" d="M${x(it.constant.accuracy)} ${y - 6}v12"/><path class="span" d="M${x(it.low)} ${y}H${x(it.high)}"/>
        <circle class="dot" cx="${x(it.accuracy)}" cy="${y}" r="4.5"/><text class="soft" x="${right + 8}" y="${y + 4}">${it.accuracy.toFixed(2)}</text></g>`;
    });
    const high = 26 + about.families.length * step;
    const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => `<path class="axis" d="M${x(share)} 12V${high}"/><text class="soft" x="${x(share)}" y="${high + 14}" text-anchor="middle">${share}</text>`);
    return figure("Accuracy by family", `<svg viewBox="0 0 450 ${high + 20}" role="img" aria-label="Accuracy by family">${ticks.join("")}${lines.join("")}</svg>`,
      "Lines across: 95 % intervals. Dashed: guessing among the answers. Solid: the best constant answer of the family in training.");
  }

  /** Accuracy against a quantity: bins with their intervals, the fitted curve and its threshold. */
  function drawCurve(it) {
    const box = { left: 40, right: 430, top: 10, bottom: 190 }, xs = it.bins.map((bin) => bin.x), [from, to] = [Math.min(...xs) / 1.1, Math.max(...xs) * 1.1];
    const x = (value) => box.left + (Math.log(Math.min(Math.max(value, from), to) / from) / Math.log(to / from)) * (box.right - box.left);
    const y = (share) => box.bottom - share * (box.bottom - box.top);
    const accuracy = (value) => it.chance + (1 - it.lapse - it.chance) / (1 + Math.exp(((it.falls ? 1 : -1) * Math.log(value / it.threshold)) / it.spread));
    const path = Array.from({ length: 80 }, (_, i) => from * (to / from) ** (i / 79)).map((value, i) => `${i ? "L" : "M"}${x(value).toFixed(1)} ${y(accuracy(value)).toFixed(1)}`).join("");
    const dots = it.bins.map((bin) => `<path class="span" d="M${x(bin.x)} ${y(bin.low)}V${y(bin.high)}"/><circle class="dot" cx="${x(bin.x)}" cy="${y(bin.accuracy)}" r="3.5"/>`).join("");
    const ticks = [0, 0.5, 1].map((share) => `<path class="axis" d="M${box.left} ${y(share)}H${box.right}"/><text class="soft" x="${box.left - 6}" y="${y(share) + 4}" text-anchor="end">${share}</text>`).join("");
    const marks = [from, it.threshold, to].map((value) => `<text class="soft" x="${x(value)}" y="${box.bottom + 16}" text-anchor="middle">${Number(value.toPrecision(2))}</text>`).join("");
    const half = y(accuracy(it.threshold)), ends = `M${x(it.low ?? 0)} ${half}H${x(it.high ?? Infinity)}`;
    return figure(`${it.part}: ${it.title}`, `<svg viewBox="0 0 450 212" role="img" aria-label="${escape(it.sentence)}">${ticks}<path class="chance" d="M${box.left} ${y(it.chance)}H${box.right}"/>
      <path class="wide" d="${ends}"/><path class="curve" d="${path}"/>${dots}${marks}</svg>`, it.sentence);
  }

  /** How often each right answer got each reply, of the rows that the condition and family leave. */
  function drawConfusion() {
    const own = rows.filter((row) => row.condition === state.condition && (!state.family || row.part === state.family));
    const tally = (key) => {
      const counts = new Map();
      for (const row of own) counts.set(key(row), (counts.get(key(row)) ?? 0) + 1);
      return [...counts].sort((a, b) => b[1] - a[1]).slice(0, LISTED).map(([name]) => name);
    };
    const told = (row) => row.answer ?? UNREAD, golds = tally((row) => row.gold), answers = tally(told);
    const order = [...golds.filter((name) => answers.includes(name)), ...answers.filter((name) => !golds.includes(name))];
    const cells = golds.map((gold) => `<tr><th scope="row">${escape(gold)}</th>${order.map((answer) => {
      const n = own.filter((row) => row.gold === gold && told(row) === answer).length;
      return n ? `<td class="${gold === answer ? "right" : ""}"><button type="button" data-gold="${escape(gold)}" data-answer="${escape(answer)}">${n}</button></td>` : '<td class="none">·</td>';
    }).join("")}</tr>`);
    const table = `<table><thead><tr><th scope="col">right answer</th>${order.map((name) => `<th scope="col">${escape(name)}</th>`).join("")}</tr></thead><tbody>${cells.join("")}</tbody></table>`;
    return figure(`Replies to each right answer${state.family ? `: ${state.family}` : ""}`, table, `Condition ${state.condition}; the ${LISTED} most frequent answers. A number filters the list below.`);
  }

  function drawFigures() {
    $("figures").innerHTML = drawFamilies() + drawConfusion() + about.thresholds.map(drawCurve).join("");
    for (const button of $("figures").querySelectorAll("[data-gold]")) {
      button.onclick = () => {
        Object.assign(state, { gold: button.dataset.gold, answer: button.dataset.answer });
        refilter();
        $("rows").scrollIntoView();
      };
    }
  }

  // ---------------------------------------------------------------- rows

  const words = (row) => `${row.question} ${row.reply} ${row.gold} ${row.why}`.toLowerCase();

  function refilter() {
    const { condition, family, outcome, gold, answer } = state, typed = state.words.trim().toLowerCase();
    const besides = rows.filter((row) => row.condition === condition && (!family || row.part === family)
      && (!gold || (row.gold === gold && (row.answer ?? UNREAD) === answer)) && (!typed || words(row).includes(typed)));
    shown = besides.filter((row) => !outcome || row.outcome === outcome);
    const counts = OUTCOMES.map((name) => [name, besides.filter((row) => row.outcome === name).length]);
    choices("outcome", [["", `all, ${besides.length}`], ...counts.map(([name, n]) => [name, `${name}, ${n}`])]);
    $("found").textContent = `${shown.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")}${gold ? ` · ${gold} → ${answer}` : ""}`;
    $("cards").replaceChildren();
    drawn = 0;
    drawMore();
  }

  function choices(id, options) {
    $(id).innerHTML = options.map(([value, label]) => `<option value="${escape(value)}"${value === state[id] ? " selected" : ""}>${escape(label)}</option>`).join("");
  }

  function picture(row, eager) {
    if (row.picture === null) return '<span class="picture blank">no picture</span>';
    return `<img class="picture${row.mirrored ? " mirror" : ""}" src="pictures/${row.picture}.webp" width="${about.size[0]}" height="${about.size[1]}" alt="" ${eager ? "" : 'loading="lazy"'}>`;
  }

  const answerOf = (row) => `${escape(row.answer ?? UNREAD)} <span class="tag ${row.outcome}">${row.outcome}</span>`;

  function drawMore() {
    const next = shown.slice(drawn, drawn + AT_ONCE);
    $("cards").insertAdjacentHTML("beforeend", next.map((row, i) => `<button type="button" class="card ${row.outcome}" data-place="${drawn + i}">${picture(row)}
      <span class="question">${escape(row.question)}</span><p>right: <b>${escape(row.gold)}</b> · read: ${answerOf(row)}</p><p class="reply">${escape(row.reply)}</p></button>`).join(""));
    drawn += next.length;
    $("more").textContent = drawn < shown.length ? `${(shown.length - drawn).toLocaleString("en")} more below` : shown.length ? "" : "No question passes all filters.";
  }

  /** A question with those of its picture and its twin's, side by side. */
  function open(place) {
    if (!shown[place]) return;
    at = place;
    const row = shown[place], mates = rows.filter((other) => other !== row && other.condition === row.condition && other.cluster === row.cluster);
    mates.sort((a, b) => (b.question === row.question) - (a.question === row.question));
    const told = (own) => `<div class="${own === row ? "own" : ""}">${picture(own, true)}<p><b>${escape(own.question)}</b></p>
      <p>right: <b>${escape(own.gold)}</b> · read: ${answerOf(own)}</p>${own.reason ? `<p class="soft">Why it is right: ${escape(own.reason)}.</p>` : ""}
      <p class="soft">Reply (${escape(own.why)}):</p><pre>${escape(own.reply) || "(empty)"}</pre>${own.reasoning ? `<p class="soft">Thoughts:</p><pre>${escape(own.reasoning)}</pre>` : ""}</div>`;
    $("detail").innerHTML = `<nav><b><a href="#${encodeURIComponent(row.key)}">${escape(row.key)}</a></b><button type="button" data-step="-1" aria-label="The one before">←</button><button type="button" data-step="1" aria-label="The next one">→</button>
      <button type="button" data-step="0">Close</button></nav><div class="mates">${[row, ...mates.slice(0, 7)].map(told).join("")}</div>
      <p class="soft">${escape(about.place)}/${escape(row.key.replace(/^[^/]*\//, "").replace(/\/.*/, ""))}</p>`;
    for (const button of $("detail").querySelectorAll("[data-step]")) button.onclick = () => (button.dataset.step === "0" ? $("detail").close() : open(at + Number(button.dataset.step)));
    if (!$("detail").open) $("detail").showModal();
  }

  function begin(given) {
    about = given;
    rows = given.rows.map((row) => Object.fromEntries(given.columns.map((name, i) => [name, row[i]])));
    $("about").textContent = about.about;
    const unique = (key) => [...new Set(rows.map((row) => row[key]))];
    choices("condition", unique("condition").map((name) => [name, name]));
    choices("family", [["", "all"], ...unique("part").sort().map((name) => [name, name])]);
    for (const id of ["condition", "family", "outcome"]) {
      $(id).onchange = () => {
        state[id] = $(id).value;
        Object.assign(state, { gold: "", answer: "" });
        refilter();
        if (id !== "outcome") drawFigures();
      };
    }
    $("words").oninput = () => { state.words = $("words").value; refilter(); };
    $("clear").onclick = () => {
      Object.assign(state, { condition: "picture", family: "", outcome: "", words: "", gold: "", answer: "" });
      for (const id of ["condition", "family", "words"]) $(id).value = state[id];
      refilter();
      drawFigures();
    };
    $("filters").onsubmit = (event) => event.preventDefault();
    $("cards").onclick = (event) => { const card = event.target.closest(".card"); if (card) open(Number(card.dataset.place)); };
    new IntersectionObserver(([entry]) => { if (entry.isIntersecting && drawn < shown.length) drawMore(); }, { rootMargin: "800px" }).observe($("more"));
    document.onkeydown = (event) => {
      if ($("detail").open && ["ArrowLeft", "ArrowRight"].includes(event.key)) open(at + (event.key === "ArrowLeft" ? -1 : 1));
    };
    drawVerdict();
    drawFigures();
    refilter();
    const linked = rows.find((row) => row.key === decodeURIComponent(location.hash.slice(1)));
    if (linked) {
      state.condition = $("condition").value = linked.condition;
      refilter();
      open(shown.indexOf(linked));
    }
    document.documentElement.dataset.ready = "1";
  }

  $("theme").onclick = () => {
    const dark = document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    document.documentElement.dataset.theme = dark === "dark" ? "light" : "dark";
  };
  return { begin };
})();

{
  const script = document.createElement("script");
  script.src = "rows.js";
  script.onerror = () => { document.body.textContent = "The file rows.js is missing: it belongs beside index.html."; };
  document.head.append(script);
}
