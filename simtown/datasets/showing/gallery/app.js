"use strict";

// The scripts in data/ call simtown.begin once and simtown.detail for every piece that was asked for.
const simtown = (() => {
  const $ = (id) => document.getElementById(id);
  const ROLES = ["any", "subject", "object"];
  // Of masks, by role; things of families have a hue each, of which style.css makes the colours of light and dark.
  const TINTS = { subject: "#2668d8", object: "#e66e14", other: "#9650cd" };
  const HUES = Array.from({ length: 24 }, (_, i) => (260 + 137.5 * i) % 360); // neighbours in a list are far apart
  const hues = new CSSStyleSheet();
  HUES.forEach((hue, i) => {
    TINTS[`thing hue-${i}`] = `oklch(0.65 0.19 ${hue})`;
    hues.insertRule(`.hue-${i} { --hue: ${hue}; }`);
  });
  document.adoptedStyleSheets = [hues];
  const GAP = 12, FLYING = 6, KEPT = 160;
  const TALLEST = 15e6; // pixels of the grid: no browser lays out an element of much more
  // Of a cell: its least width, and the most lines of words below. On a phone two cells stand side by side, with three lines of words.
  const ROOMY = { width: 190, lines: 2 }, NARROW = { width: 136, lines: 3 }, PHONE = 500;
  const LISTED = 12, CHARTED = 24; // values of a long facet that are listed, and bars of a chart of many values
  const LINE = 17, ROOM = 16, ASIDE = 56; // of the words in a cell: a line and the space about them; beside the question, for the answer

  let about, columns, facets, total, starts;
  let sampled = false; // whether there are examples that the page does not show
  let matches = new Int32Array(0);
  let at = 0; // place of the selected example in matches
  let aside = -1; // an example that is shown though the filters hide it
  // Framed beside another data set's page, both show the same: what is chosen here is told to the page around.
  const framed = parent !== window;
  if (framed) document.documentElement.dataset.framed = name;
  let following = false;
  const NO_MARGIN = -32768;
  const ANY = { from: 0, to: Infinity }; // metres
  const state = { ...ANY, entity: -1, typed: "", role: "any", boxes: false, masks: false, charts: false, open: false };

  // ---------------------------------------------------------------- reading

  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const escape = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
  const count = (n) => n.toLocaleString("en");
  const share = (x) => `${(100 * x).toFixed(1)}%`;

  /** Loads what is wanted, the first wish first and few at a time; keeps the latest. start(key, done) gives done a value or null. */
  function loader(start, ready) {
    const have = new Map(), flying = new Set(), failed = new Set();
    let wanted = [];
    function next() {
      for (const key of wanted) {
        if (flying.size >= FLYING) return;
        if (have.has(key) || flying.has(key) || failed.has(key)) continue;
        flying.add(key);
        start(key, (value) => {
          flying.delete(key);
          if (value === null) failed.add(key);
          else have.set(key, value);
          for (const old of have.keys()) {
            if (have.size <= KEPT) break;
            if (!wanted.includes(old)) have.delete(old);
          }
          ready(key);
          next();
        });
      }
    }
    return { get: (key) => have.get(key), want: (keys) => { wanted = keys; next(); } };
  }

  const arrived = new Map();
  function script(key, done) {
    const element = document.createElement("script");
    element.onload = () => { element.remove(); const rows = arrived.get(key); arrived.delete(key); done(rows ?? null); };
    element.onerror = () => { element.remove(); done(null); };
    element.src = `data/${key}.js`;
    document.head.append(element);
  }
  function picture(key, done) {
    const image = new Image();
    image.onload = () => done(image);
    image.onerror = () => done(null);
    image.src = `data/${key}.jpg`;
  }
  const sheets = loader(picture, refresh), details = loader(script, refresh), larges = loader(picture, refresh);

  const splitOf = (g) => facets[0].values[g];
  // An example has a number in its split and, where the page shows a sample of stretches, a place among those that are shown.
  const placeOf = (g) => g - starts[splitOf(g)];
  function numberOf(g) {
    const split = about.splits[splitOf(g)], place = placeOf(g);
    return split.starts[Math.floor(place / split.stretch)] + (place % split.stretch);
  }
  function placeOfNumber(split, number) {
    const stretch = split.starts.findLastIndex((start) => start <= number), within = number - split.starts[stretch];
    return within < split.stretch ? stretch * split.stretch + within : NaN;
  }
  /** The example with this number in a split; -1 if the page does not show it. */
  function exampleOf(s, number) {
    const place = s >= 0 && number < about.splits[s].count ? placeOfNumber(about.splits[s], number) : NaN;
    return place >= 0 ? starts[s] + place : -1;
  }
  const current = () => (aside >= 0 ? aside : matches[at]);
  const shownOf = (split) => split.starts.length * split.stretch;
  const piece = (g, size) => `${about.splits[splitOf(g)].name}-${String(Math.floor(placeOf(g) / size)).padStart(5, "0")}`;
  const sheetOf = (g) => piece(g, about.sheet ** 2);
  const largeOf = (g) => `large/${about.splits[splitOf(g)].name}-${placeOf(g)}`;
  const asksFamilies = () => Boolean(about.families);
  const answerOf = (g) => (asksFamilies() ? about.answers[columns.value[g]] : columns.answer[g] ? "yes" : "no");
  const toneOf = (answer) => (["yes", "no"].includes(answer) ? answer : "other");
  const nameOf = (g) => `${about.splits[splitOf(g)].name} ${count(numberOf(g))}`;

  /** What is known of an example, once it has been read. */
  function detailOf(g) {
    const row = details.get(piece(g, about.details))?.[placeOf(g) % about.details];
    if (!row) return null;
    const [question, subject, object, margin, intensity, [x, y, yaw, focal], things, ...more] = row;
    const [program, exact, reason, group, edit] = more;
    const s = Math.sin(yaw), c = Math.cos(yaw);
    return {
      question, subject, object, margin, intensity, program, exact, reason, group, edit, focal, eye: { x, y, yaw },
      things: things.map(([kind, tx, ty, turn, x0, y0, x1, y1, visible, runs, paint], slot) => ({
        name: about.entities[kind] ?? kind, paint, size: about.footprints[kind] ?? [0.9, 0.9], x: tx, y: ty, yaw: turn, box: [x0, y0, x1, y1], visible, runs,
        role: asksFamilies() ? `thing hue-${slot % HUES.length}` : slot === subject ? "subject" : slot === object ? "object" : "other",
        side: (tx - x) * c + (ty - y) * s, far: (ty - y) * c - (tx - x) * s, turn: turn - yaw,
      })),
    };
  }

  // ---------------------------------------------------------------- filters

  /** Examples that pass every filter; and how many would, for every value of a facet, if that facet's other filters were dropped. */
  function filter() {
    const found = new Int32Array(total), counts = facets.map((f) => new Uint32Array(f.names.length));
    const { entity, role, from, to } = state, { subject, object, other, margin } = columns;
    let n = 0;
    for (let g = 0; g < total; g++) {
      if (entity >= 0) {
        const there = asksFamilies() ? kindsOf(g).includes(entity) : (role !== "object" && subject[g] === entity) || (role !== "subject" && object[g] === entity)
          || (role === "any" && other[g] === entity);
        if (!there) continue;
      }
      if (from > 0 || to < Infinity) {
        const metres = Math.abs(margin[g]) / 100;
        if (margin[g] === NO_MARGIN || metres < from || metres > to) continue;
      }
      let missed = -1;
      for (let f = 0; f < facets.length; f++) {
        if (facets[f].chosen.size && !facets[f].chosen.has(facets[f].values[g])) missed = missed === -1 ? f : -2;
      }
      if (missed === -1) {
        found[n++] = g;
        for (let f = 0; f < facets.length; f++) counts[f][facets[f].values[g]]++;
      } else if (missed >= 0) counts[missed][facets[missed].values[g]]++;
    }
    return { found: found.slice(0, n), counts };
  }

  const kindsOf = (g) => Array.from({ length: 8 }, (_, i) => columns[`kind${i}`][g]).filter((kind) => kind !== 255);

  function refilter() {
    const kept = matches[at];
    aside = -1;
    const { found, counts } = filter();
    matches = found;
    at = Math.max(0, found.indexOf(kept));
    facets.forEach((facet, f) => facet.outputs.forEach((output, value) => {
      output.value = count(counts[f][value]);
      output.parentElement.classList.toggle("none", !counts[f][value]);
      if (facet.long) output.parentElement.hidden = !counts[f][value] && !facet.chosen.has(value);
    }));
    for (const facet of facets) if (facet.long) shorten(facet);
    $("found").innerHTML = `<span><b>${count(found.length)}</b> of ${count(total)}</span>`;
    $("clear").hidden = !filtered();
    if (framed) $("about").textContent = `${count(found.length)} of ${count(total)}`; // the second page has no filters to say so
    $("matching").value = filtered() ? count(found.length) : "";
    $("leave-filters").textContent = `Show ${count(found.length)} example${found.length === 1 ? "" : "s"}`;
    $("nothing").hidden = found.length > 0 || state.charts;
    for (const cell of cells.values()) cell.remove();
    cells.clear();
    if (!found.length) state.open = false;
    layout();
    if (found.length) reveal();
    show();
  }

  /** Of a facet with many values only those are listed that the other filters leave, if they are few. */
  function shorten(facet) {
    const labels = facet.outputs.map((output) => output.parentElement), listed = labels.filter((label) => !label.hidden).length;
    if (listed > LISTED && !facet.chosen.size) labels.forEach((label) => { label.hidden = true; });
    facet.note.hidden = listed <= LISTED || facet.chosen.size > 0;
    facet.note.textContent = `${listed} answers: choose a family to list its own.`;
  }

  const filtered = (besides) => state.entity >= 0 || state.from > 0 || state.to < Infinity || facets.some((f) => f.key !== besides && f.chosen.size);

  function clear() {
    for (const facet of facets) { facet.chosen.clear(); facet.inputs.forEach((input) => { input.checked = false; }); }
    chooseEntity("");
    Object.assign(state, ANY, { role: "any" });
    sync();
    refilter();
  }

  /** Show an example by its number, "train 42", or 42 of the split that is shown, whatever the filters. */
  function jump(text) {
    const [, name, digits] = /^\s*([a-z-]*)[\s:]*([\d,]+)\s*$/.exec(text.toLowerCase()) ?? [];
    const names = about.splits.map((split) => split.name), number = Number((digits ?? "").replaceAll(",", ""));
    const split = name ? names.findIndex((own) => own.startsWith(name)) : matches.length ? splitOf(current()) : 0, own = about.splits[split];
    const g = digits && own ? exampleOf(split, number) : -1, note = $("no-example");
    note.hidden = g >= 0 || !text.trim();
    if (!digits || !own) note.textContent = `Give a number, or a split and a number, such as ${names.at(-1)} 42.`;
    else if (number >= own.count) note.textContent = `The last one is ${own.name} ${count(own.count - 1)}.`;
    else note.innerHTML = `${escape(own.name)} ${count(number)} is not on this page: it shows a sample.<code>simtown render ${escape(about.place)}/${escape(own.name)}:${number}</code>`;
    $("jump").setAttribute("aria-invalid", String(!note.hidden));
    if (g < 0) return;
    showFilters(false);
    go(g);
  }

  /** Open an example, also one that the filters hide. */
  function go(g) {
    const place = matches.indexOf(g);
    if (place < 0) aside = g;
    else at = place;
    state.open = true;
    state.charts = false;
    show();
    if (place >= 0) select(place);
  }

  /** The entity of this name; where there is none, nothing is filtered and the page says so. */
  function chooseEntity(text) {
    const plain = text.trim().toLowerCase();
    state.entity = about.entities.findIndex((name) => name.toLowerCase() === plain);
    state.typed = state.entity < 0 ? text : "";
  }

  /** Up to four names that begin like a text, contain it, or differ from it by a few letters; the nearest first. */
  function similarEntities(text) {
    const limit = Math.max(1, Math.round(text.length / 2.5));
    const rank = (name) => {
      if (name.startsWith(text)) return 0;
      if (name.split(" ").some((word) => word.startsWith(text))) return 0.1;
      if (text.length > 1 && name.includes(text)) return 0.2;
      return Math.min(...[name, ...name.split(" ")].map((word) => edits(text, word)));
    };
    return about.entities.map((name) => [rank(name.toLowerCase()), name]).filter(([r]) => r <= limit).sort(([a], [b]) => a - b)
      .slice(0, 4).map(([, name]) => name);
  }

  /** Letters to insert, leave out or exchange to make one word of another. */
  function edits(from, to) {
    let row = Array.from({ length: to.length + 1 }, (_, i) => i);
    for (let i = 1; i <= from.length; i++) {
      const next = [i];
      for (let j = 1; j <= to.length; j++) next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (from[i - 1] !== to[j - 1]));
      row = next;
    }
    return row[to.length];
  }

  function explainEntity() {
    const text = state.typed.trim(), unknown = text !== "", note = $("unknown-entity");
    $("entity").setAttribute("aria-invalid", String(unknown));
    note.hidden = !unknown;
    if (!unknown) return;
    const names = similarEntities(text.toLowerCase());
    note.innerHTML = `No entity is named “${escape(text)}”${names.length ? ". Did you mean " : "."}`
      + names.map((name) => `<button type="button">${escape(name)}</button>`).join(" ") + (names.length ? "?" : "");
    note.querySelectorAll("button").forEach((button, i) => { button.onclick = () => { chooseEntity(names[i]); refilter(); }; });
  }

  /** Where the page shows a sample: how many of how many, and how to get all. */
  function explainSample() {
    const parts = about.splits.filter((split) => shownOf(split) < split.count).map((split) => `${count(shownOf(split))} of ${count(split.count)} ${split.name}`);
    sampled = parts.length > 0;
    if (sampled) $("sample").innerHTML = `Shown: ${escape(parts.join(", "))}, evenly spread. All:
      <code>simtown gallery ${escape(about.place)} <span>--all</span></code>`;
    $("sample").hidden = !sampled;
  }

  function buildFilters() {
    for (const facet of facets) {
      const set = document.createElement("fieldset");
      set.innerHTML = `<legend>${escape(facet.title)}</legend>`;
      facet.names.forEach((name, value) => {
        const label = document.createElement("label");
        label.className = "facet";
        label.innerHTML = `<input type="checkbox" name="${facet.key}" value="${escape(name)}"><span>${escape(name)}</span><output></output>`;
        label.hidden = !facet.values.includes(value);
        const input = label.firstChild;
        input.onchange = () => { facet.chosen[input.checked ? "add" : "delete"](value); refilter(); };
        facet.inputs.push(input);
        facet.outputs.push(label.lastChild);
        set.append(label);
      });
      facet.note = document.createElement("p");
      facet.note.className = "why";
      facet.note.hidden = true;
      set.append(facet.note);
      $("facets").append(set);
    }
    $("entities").innerHTML = about.entities.map((name) => `<option value="${escape(name)}">`).join("");
    $("entity").oninput = () => { chooseEntity($("entity").value); refilter(); };
    for (const role of ROLES) {
      const label = document.createElement("label");
      label.innerHTML = `<input type="radio" name="role" value="${role}">${role === "any" ? "anywhere" : `as ${role}`}`;
      label.firstChild.onchange = () => { state.role = role; refilter(); };
      $("roles").append(label);
    }
    $("roles").hidden = asksFamilies();
    for (const key of ["from", "to"]) $(key).onchange = () => { state[key] = $(key).value === "" ? ANY[key] : Number($(key).value); refilter(); };
    $("margins").hidden = columns.margin.every((margin) => margin === NO_MARGIN);
    $("jump").onchange = () => jump($("jump").value);
    $("clear").onclick = clear;
    $("filters").onsubmit = (event) => event.preventDefault();
    $("show-filters").onclick = () => showFilters(!showingFilters());
    $("leave-filters").onclick = () => showFilters(false);
  }

  const showingFilters = () => $("show-filters").getAttribute("aria-expanded") === "true";

  /** On a narrow screen the filters are a page of their own; on others they are always there. */
  function showFilters(shown) {
    $("show-filters").setAttribute("aria-expanded", String(shown && $("show-filters").offsetParent !== null));
    if (shown) $("entity").focus({ preventScroll: true });
    else grid.focus({ preventScroll: true });
  }

  /** Controls as the state has them. */
  function sync() {
    const name = about.entities[state.entity] ?? state.typed;
    if ($("entity").value.trim().toLowerCase() !== name.trim().toLowerCase()) $("entity").value = name;
    explainEntity();
    for (const key of ["from", "to"]) $(key).value = state[key] === ANY[key] ? "" : state[key];
    document.querySelector(`[name=role][value=${state.role}]`).checked = true;
    for (const key of ["boxes", "masks"]) $(key).setAttribute("aria-pressed", String(state[key]));
    $("show-charts").setAttribute("aria-pressed", String(state.charts));
    $("show-examples").setAttribute("aria-pressed", String(!state.charts));
  }

  // ---------------------------------------------------------------- the grid: only cells in sight exist

  const grid = $("grid"), cells = new Map();
  const shape = { across: 1, width: 1, picture: 1, caption: 1, row: 1, tall: 1 };

  // Of more rows than a browser lays out, the scroll bar moves over a part: it is stretched, and cells are placed where it stands.
  const stretched = () => (shape.tall <= TALLEST ? 1 : (shape.tall - grid.clientHeight) / (TALLEST - grid.clientHeight));
  const scrolled = () => grid.scrollTop * stretched();
  const scrollTo = (y) => { grid.scrollTop = y / stretched(); };

  function layout() {
    const room = grid.clientWidth - 2 * GAP, { width, lines } = grid.clientWidth < PHONE ? NARROW : ROOMY;
    shape.across = Math.max(1, Math.floor((room + GAP) / (width + GAP)));
    shape.width = Math.floor((room - GAP * (shape.across - 1)) / shape.across);
    shape.picture = Math.round((shape.width * about.thumb[1]) / about.thumb[0]);
    // A wrapped line is rarely full: the longest question needs as many lines as its words, a fifth longer, fill.
    const filled = longest() / (shape.width - ASIDE);
    shape.caption = ROOM + LINE * (filled <= 1 ? 1 : Math.min(lines, Math.ceil(1.2 * filled)));
    shape.row = shape.picture + shape.caption + GAP;
    shape.tall = Math.ceil(matches.length / shape.across) * shape.row + GAP;
    $("spacer").style.height = `${Math.min(shape.tall, TALLEST)}px`;
    for (const [place, cell] of cells) put(cell, place);
    drawGrid();
  }

  /** Width of the longest question in a cell, pixels. */
  function longest() {
    const pen = document.createElement("canvas").getContext("2d"), { fontFamily } = getComputedStyle(document.body);
    pen.font = `12.5px ${fontFamily}`;
    return Math.max(...about.splits.map((split) => pen.measureText(split.longest).width));
  }

  function put(cell, place) {
    cell.style.cssText = `left:${GAP + (place % shape.across) * (shape.width + GAP)}px;`
      + `top:${GAP + Math.floor(place / shape.across) * shape.row - (scrolled() - grid.scrollTop)}px;width:${shape.width}px;height:${shape.picture + shape.caption}px`;
    cell.firstChild.style.height = `${shape.picture}px`;
    cell.lastChild.style.height = `${shape.caption}px`;
  }

  function drawGrid() {
    if (state.charts) return want();
    const first = Math.max(0, Math.floor(scrolled() / shape.row) - 1) * shape.across;
    const last = Math.min(matches.length, Math.ceil((scrolled() + grid.clientHeight) / shape.row + 1) * shape.across);
    for (const [place, cell] of cells) {
      if (place < first || place >= last) { cell.remove(); cells.delete(place); } else if (shape.tall > TALLEST) put(cell, place);
    }
    for (let place = first; place < last; place++) {
      let cell = cells.get(place);
      if (!cell) {
        cell = document.createElement("div");
        cell.className = "cell";
        cell.id = `example-${matches[place]}`;
        cell.setAttribute("role", "option");
        cell.setAttribute("aria-posinset", place + 1);
        cell.setAttribute("aria-setsize", matches.length);
        cell.innerHTML = '<div class="picture"><canvas aria-hidden="true"></canvas><svg aria-hidden="true"></svg></div><p></p>';
        cell.onclick = () => { select(place); open(); grid.focus({ preventScroll: true }); };
        put(cell, place);
        cells.set(place, cell);
        $("spacer").append(cell);
      }
      cell.setAttribute("aria-selected", String(place === at));
      drawCell(cell, matches[place]);
    }
    if (matches.length) grid.setAttribute("aria-activedescendant", `example-${matches[at]}`);
    else grid.removeAttribute("aria-activedescendant");
    want();
  }

  function drawCell(cell, g) {
    const detail = detailOf(g), answer = answerOf(g);
    const drawn = `${sheets.get(sheetOf(g)) ? 1 : 0}${detail ? 1 : 0}${state.boxes}${state.masks}`;
    if (cell.dataset.drawn === drawn) return;
    cell.dataset.drawn = drawn;
    draw(cell.firstChild, g, detail);
    cell.lastChild.innerHTML = `<span>${escape(detail?.question ?? "")}</span><b class="answer ${toneOf(answer)}">${escape(answer)}</b>`;
    cell.setAttribute("aria-label", `${nameOf(g)}: ${detail?.question ?? ""} ${answer}`);
  }

  // The pictures of a sequence play one after the other; masks and boxes are of the first one.
  let shot = 0;
  const playing = (large) => Boolean(large && shot);
  function play() {
    if (!about || !about.large || !state.open || document.hidden) return;
    shot = (shot + 1) % about.shots;
    $("inspector").dataset.drawn = "";
    const g = current(), frame = $("inspector").querySelector(".picture");
    if (frame && larges.get(largeOf(g))) draw(frame, g, detailOf(g), true);
  }
  function label(pen, text) {
    pen.font = `600 ${pen.canvas.width / 24}px system-ui, sans-serif`;
    pen.textAlign = "right";
    pen.lineWidth = pen.canvas.width / 160;
    pen.strokeStyle = "#0009";
    pen.fillStyle = "#fff";
    pen.strokeText(text, 0.98 * pen.canvas.width, pen.canvas.width / 18);
    pen.fillText(text, 0.98 * pen.canvas.width, pen.canvas.width / 18);
  }

  /** A picture with its masks and boxes; nothing where the pieces have yet to come. */
  function draw(frame, g, detail, large) {
    const [canvas, svg] = frame.children, [w, h] = about.thumb, sheet = sheets.get(sheetOf(g));
    if (sheet) {
      // Whole multiples of pixels keep their edges, which a picture that is stretched by the browser blurs.
      const place = placeOf(g) % about.sheet ** 2, pen = canvas.getContext("2d"), times = large ? Math.max(1, Math.round(800 / Math.max(w, h))) : 1;
      [canvas.width, canvas.height] = [w * times, h * times];
      const redrawn = large && larges.get(largeOf(g));
      pen.imageSmoothingEnabled = Boolean(redrawn);
      const wide = redrawn && redrawn.width / about.shots;
      if (redrawn) pen.drawImage(redrawn, shot * wide, 0, wide, redrawn.height, 0, 0, canvas.width, canvas.height);
      else pen.drawImage(sheet, (place % about.sheet) * w, Math.floor(place / about.sheet) * h, w, h, 0, 0, canvas.width, canvas.height);
      if (redrawn && about.shots > 1) label(pen, `${shot + 1} / ${about.shots}`);
      if (state.masks && detail && !playing(large)) for (const { runs, role } of detail.things) pen.drawImage(mask(runs, w, h, TINTS[role]), 0, 0, canvas.width, canvas.height);
    }
    svg.setAttribute("viewBox", `0 0 ${about.size.join(" ")}`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.innerHTML = state.boxes && detail && !playing(large) ? detail.things.map(({ box: [x0, y0, x1, y1], role }) =>
      `<rect class="frame ${role}" x="${x0}" y="${y0}" width="${x1 - x0}" height="${y1 - y0}"/>`).join("") : "";
  }

  /** COCO's compressed run lengths (column by column, from a run of zeros on) as a tinted picture. */
  function mask(text, w, h, tint) {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [w, h];
    const pen = canvas.getContext("2d"), image = pen.createImageData(w, h), counts = [];
    for (let i = 0, place = 0; i < text.length; place++) {
      let number = 0, shift = 0, more = true;
      while (more) {
        const c = text.charCodeAt(i++) - 48;
        number |= (c & 31) << shift;
        shift += 5;
        more = (c & 32) !== 0;
        if (!more && c & 16) number |= -1 << shift;
      }
      counts.push(number + (place > 2 ? counts[place - 2] : 0));
    }
    let p = 0;
    counts.forEach((run, i) => {
      for (const end = p + run; p < end; p++) {
        if (i % 2) image.data[4 * ((p % h) * w + Math.floor(p / h)) + 3] = 165;
      }
    });
    pen.putImageData(image, 0, 0);
    pen.globalCompositeOperation = "source-in";
    pen.fillStyle = tint;
    pen.fillRect(0, 0, w, h);
    return canvas;
  }

  /** Ask for the pieces of what is in sight, the selected example's first. */
  function want() {
    const seen = [...(state.charts ? [] : [...cells.keys()].sort((a, b) => a - b))].map((place) => matches[place]);
    if (state.open) seen.unshift(current());
    sheets.want([...new Set(seen.map(sheetOf))]);
    details.want([...new Set(seen.map((g) => piece(g, about.details)))]);
    if (about.large && state.open) larges.want([largeOf(current())]);
  }

  let pending = false;
  function refresh() {
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => { pending = false; drawGrid(); drawInspector(); });
  }

  function select(place) {
    at = Math.min(Math.max(place, 0), Math.max(matches.length - 1, 0));
    aside = -1;
    reveal();
    drawGrid();
    drawInspector();
    remember();
  }

  function reveal() {
    const top = Math.floor(at / shape.across) * shape.row;
    if (top < scrolled()) scrollTo(top);
    else if (top + shape.row + GAP > scrolled() + grid.clientHeight) scrollTo(top + shape.row + GAP - grid.clientHeight);
  }

  // ---------------------------------------------------------------- one example

  function open() {
    if (!matches.length) return;
    state.open = true;
    show();
    reveal(); // the grid has fewer columns now
    drawGrid();
  }

  function close() {
    state.open = false;
    aside = -1;
    show();
    reveal();
    drawGrid();
    grid.focus();
  }

  /** Puts a text on the clipboard and says so on its button. */
  async function copy(text, button) {
    const words = button.dataset.words ??= button.textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed here"; // the text can be selected and copied
    }
    setTimeout(() => { button.textContent = words; }, 1500);
  }

  function drawInspector() {
    const panel = $("inspector");
    if (!state.open) return;
    const g = current(), detail = detailOf(g), answer = answerOf(g);
    const drawn = `${g} ${sheets.get(sheetOf(g)) ? 1 : 0}${detail ? 1 : 0}${larges.get(largeOf(g)) ? 1 : 0}${state.boxes}${state.masks} ${at} ${matches.length}`;
    if (panel.dataset.drawn === drawn) return;
    panel.dataset.drawn = drawn;
    const held = panel.contains(document.activeElement) ? document.activeElement.dataset.step : undefined;
    panel.innerHTML = `<nav><b>${escape(nameOf(g))}${aside >= 0 ? " <small>hidden by the filters</small>" : ""}</b><button type="button" class="icon" data-step="-1" aria-label="The one before">←</button>
      <button type="button" class="icon" data-step="1" aria-label="The next one">→</button>
      <button type="button" class="icon" data-step="0" aria-label="Close">✕</button></nav>
      <div class="picture"><canvas role="img" aria-label="${escape(detail?.question ?? nameOf(g))}"></canvas><svg aria-hidden="true"></svg></div>`;
    for (const button of panel.querySelectorAll("[data-step]")) {
      button.onclick = () => (button.dataset.step === "0" ? close() : select(at + Number(button.dataset.step)));
    }
    const frame = panel.querySelector(".picture");
    frame.style.aspectRatio = `${about.size[0]} / ${about.size[1]}`;
    draw(frame, g, detail, true);
    if (detail) panel.insertAdjacentHTML("beforeend", told(g, detail, answer));
    if (detail?.group !== undefined) drawMates(panel.querySelector(".mates"), g, detail);
    for (const button of panel.querySelectorAll("[data-copy]")) {
      button.onclick = () => copy(button.dataset.copy === "link" ? location.href : panel.querySelector("code").textContent, button);
    }
    if (held !== undefined) panel.querySelector(`[data-step="${held}"]`).focus();
  }

  /** The other examples of a twin's group: its twin, and what else is asked of both pictures. */
  function drawMates(host, g, detail) {
    const change = { weather: "other weather", thing: "one thing beside the road" }[detail.edit] ?? `one vehicle ${detail.edit}`;
    const number = numberOf(g), { each, block } = about, start = number - (number % block), twin = number + (Math.floor(number / each) % 2 ? -each : each);
    const others = Array.from({ length: block }, (_, place) => start + place).filter((n) => n !== number && n !== twin);
    for (const n of [twin, ...others]) {
      const mate = exampleOf(splitOf(g), n), other = mate >= 0 ? detailOf(mate) : null, answer = other && answerOf(mate);
      if (other?.group !== detail.group) continue;
      const words = n === twin ? `<b>Twin</b>: ${escape(change)}.` : escape(other.question);
      host.insertAdjacentHTML("beforeend", `<button type="button"><span class="picture"><canvas></canvas><svg></svg></span><span>${words}
        <b class="answer ${toneOf(answer)}">${escape(answer)}</b></span></button>`);
      const card = host.lastChild;
      card.firstChild.style.aspectRatio = `${about.size[0]} / ${about.size[1]}`;
      draw(card.firstChild, mate, other);
      card.setAttribute("aria-label", `${nameOf(mate)}: ${card.textContent}`);
      card.onclick = () => go(mate);
    }
  }

  function told(g, detail, answer) {
    const asked = asksFamilies(), relation = asked ? null : about.relations[columns.relation[g]], split = about.splits[splitOf(g)].name;
    const weather = about.weathers[columns.weather[g]];
    const rows = detail.things.map((v) => `<tr><td><i class="dot ${v.role}"></i>${escape(v.name)}</td>${asked ? "" : `<td>${v.role}</td>`}<td>${v.x.toFixed(2)}</td>
      <td>${v.y.toFixed(2)}</td><td>${v.paint && `${Math.round((v.yaw * 180) / Math.PI)}°`}</td><td>${v.paint && `${Math.round(100 * v.visible)}%`}</td></tr>`).join("");
    const paints = detail.things.filter((v) => v.paint).map((v) => `${escape(v.name)} ${escape(v.paint)}`).join(", ");
    const because = asked ? `${detail.exact ? `<b>${escape(detail.exact)}</b>. ` : ""}${escape(sentence(detail.reason))}` : why(relation, detail, answer);
    const family = asked ? `<p class="why">Family <b>${escape(about.families[columns.family[g]])}</b>, program <span class="program">${escape(detail.program)}</span></p>` : "";
    return `<p class="question">${escape(detail.question)} <span class="answer ${toneOf(answer)}">${escape(answer)}</span></p>
      <p class="why">${because}</p>${detail.group === undefined ? "" : '<div class="mates"></div>'}${family}${plan(relation, detail)}
      <table><thead><tr><th scope="col">${asked ? "thing" : "vehicle"}</th>${asked ? "" : '<th scope="col">role</th>'}<th scope="col">x, m</th><th scope="col">y, m</th>
      <th scope="col">heading</th><th scope="col">in sight</th></tr></thead><tbody>${rows}</tbody></table>
      <p class="why">Weather: <b>${escape(weather)}</b>, strength ${detail.intensity.toFixed(2)}. Paint: ${paints}. Boxes of vehicles hold hidden parts, too.</p>
      <code title="In the folder that holds the data set">simtown render ${escape(about.place)}/${escape(split)}:${numberOf(g)} --size 1024</code>
      <p class="copies"><button type="button" data-copy="command">Copy this command</button><button type="button" data-copy="link">Copy link</button></p>`;
  }

  const sentence = (text) => (text ? `${text[0].toUpperCase()}${text.slice(1)}.` : "");

  /** The reason of an answer, in words. */
  function why(relation, detail, answer) {
    const subject = detail.things[detail.subject], object = detail.things[detail.object];
    const signed = detail.margin * relation.sign; // to the right, or away from the viewer
    const [along, words] = relation.axis === 0 ? ["Across the view", ["to the left of", "to the right of"]] : ["Along the view", ["nearer than", "farther than"]];
    const needed = words[relation.sign > 0 ? 1 : 0].replace(/ (of|than)$/, "");
    return `${along}, the ${escape(subject.name)} stands <b>${Math.abs(signed).toFixed(2)} m</b> ${words[signed > 0 ? 1 : 0]} the
      ${escape(object.name)}. “${escape(relation.name)}” needs at least ${relation.margin} m ${needed}, so <b>${answer}</b>.`;
  }

  /** Half the size of a thing on the plan, across and along the view. */
  function spread({ size: [length, width], turn }) {
    const s = Math.abs(Math.sin(turn)), c = Math.abs(Math.cos(turn));
    return [(length * c + width * s) / 2, (length * s + width * c) / 2];
  }

  /** The street from above, as the viewer sees it: x to the right, distance upwards, metres. */
  function plan(relation, { things, subject, object, margin, focal, eye }) {
    const asked = relation === null, reach = (measure) => Math.max(...things.map(measure));
    const far = asked ? Math.max(21, reach((v) => v.far) + 3.5) : 21, near = 6.4, half = asked ? Math.max(12.5, reach((v) => Math.abs(v.side)) + 3) : 12.5;
    const turn = ([x, y]) => {
      const s = Math.sin(eye.yaw), c = Math.cos(eye.yaw), dx = x - eye.x, dy = y - eye.y;
      return `${dx * c + dy * s},${dx * s - dy * c}`;
    };
    const road = [[-60, -3.7], [60, -3.7], [60, 3.7], [-60, 3.7]].map(turn).join(" ");
    const edges = [-1, 1].map((side) => `<path d="M0 0L${(side * far * 0.5) / focal} ${-far}" stroke="var(--line)" stroke-width="0.08"/>`).join("");
    const bodies = things.map((v) => {
      const [l, w] = v.size, degrees = (-v.turn * 180) / Math.PI;
      return `<path class="ray ${v.role}" d="M0 0L${v.side} ${-v.far}"${asked || v.role === "other" || relation.axis ? " display=\"none\"" : ""}/>
        <g transform="translate(${v.side} ${-v.far}) rotate(${degrees})"><rect class="vehicle ${v.role}" x="${-l / 2}" y="${-w / 2}" width="${l}"
        height="${w}" rx="${v.paint ? 0.25 : w / 2}"/>${v.paint && `<path class="nose ${v.role}" d="M${l / 2 - 0.2} 0l-0.7 -0.4v0.8z"/>`}</g>`;
    }).join("");
    // The ruler lies beyond the vehicles, or beside them, and helpers lead from what it measures to its ends.
    const a = things[subject], b = things[object], measured = asked ? "" : `${Math.abs(margin).toFixed(2)} m`, extents = things.map(spread);
    let p, q, from, text;
    if (asked) {
      [p, q, from, text] = [[0, 0], [0, 0], [], { x: 0, y: 0, anchor: "middle" }];
    } else if (relation.axis === 0) {
      const middle = (a.far + b.far) / 2, top = -Math.max(...things.map((v, i) => v.far + extents[i][1])) - 0.7;
      [p, q] = [a, b].map((v) => [(v.side / v.far) * middle, top]);
      from = [[p[0], -middle], [q[0], -middle]];
      text = { x: (p[0] + q[0]) / 2, y: top - 0.5, anchor: "middle" };
    } else {
      const right = Math.max(...things.map((v, i) => v.side + extents[i][0])) + 0.8, left = Math.min(...things.map((v, i) => v.side - extents[i][0])) - 0.8;
      const x = right < half - 3.5 ? right : left;
      [p, q] = [[x, -a.far], [x, -b.far]];
      from = [[a.side, -a.far], [b.side, -b.far]];
      text = { x: x + (x === right ? 0.45 : -0.45), y: -(a.far + b.far) / 2 + 0.3, anchor: x === right ? "start" : "end" };
    }
    const across = relation?.axis === 0 ? "v-0.35v0.7" : "h-0.35h0.7";
    const helpers = asked ? "" : [p, q].map(([x, y], i) => `<path class="ray ${[a, b][i].role}" d="M${from[i]}L${x} ${y}"/>`).join("");
    // Names stand where they hide nothing: x0, y0, x1, y1 of all that is drawn already.
    const wide = (words, size) => words.length * size * 0.62, start = { middle: 0.5, start: 0, end: 1 };
    const box = (x, y, w, h) => [x, y, x + w, y + h];
    const taken = things.map((v, i) => box(v.side - extents[i][0], -v.far - extents[i][1], 2 * extents[i][0], 2 * extents[i][1]));
    taken.push(box(text.x - start[text.anchor] * wide(measured, 0.85), text.y - 0.75, wide(measured, 0.85), 0.85), box(-1.6, -near - 1, 3.2, 1));
    taken.push(box(Math.min(p[0], q[0]) - 0.35, Math.min(p[1], q[1]) - 0.35, Math.abs(p[0] - q[0]) + 0.7, Math.abs(p[1] - q[1]) + 0.7));
    const hidden = (r) => taken.reduce((sum, t) => sum + Math.max(0, Math.min(r[2], t[2]) - Math.max(r[0], t[0])) * Math.max(0, Math.min(r[3], t[3]) - Math.max(r[1], t[1])), 0)
      + 9 * (Math.max(0, -half - r[0]) + Math.max(0, r[2] - half));
    const names = things.map((v, i) => {
      const [w, h] = [wide(v.name, 0.72), 0.8], [dx, dy] = extents[i], gap = 0.15;
      const near = [v.side - w / 2, -v.far + dy + gap], beyond = [v.side - w / 2, -v.far - dy - gap - h];
      const beside = [[v.side + dx + gap, -v.far - h / 2], [v.side - dx - gap - w, -v.far - h / 2]];
      const places = [...(v.far < 14.6 ? [near, beyond] : [beyond, near]), ...beside].map(([x, y]) => box(x, y, w, h));
      const [x0, , x1, y1] = places.reduce((best, place) => (hidden(place) < hidden(best) - 1e-9 ? place : best));
      taken.push([x0, y1 - h, x1, y1]);
      return `<text class="name ${v.role}" x="${(x0 + x1) / 2}" y="${y1 - 0.18}" text-anchor="middle">${escape(v.name)}</text>`;
    }).join("");
    return `<svg class="plan" viewBox="${-half} ${-far} ${2 * half} ${far - near}" role="img"
      aria-label="The street from above: ${things.map((v) => `${escape(v.name)} ${v.side.toFixed(1)} metres to the right and ${v.far.toFixed(1)} metres away`).join(", ")}">
      <polygon points="${road}" fill="var(--road)"/>${edges}${helpers}${bodies}
      ${asked ? "" : `<path class="measure" d="M${p}${across}M${p}L${q}${across}"/>`}${names}
      <text class="measured" x="${text.x}" y="${text.y}" text-anchor="${text.anchor}">${measured}</text>
      <text class="viewer" x="0" y="${-near - 0.3}" text-anchor="middle">▼ viewer</text></svg>`;
  }

  // ---------------------------------------------------------------- distributions

  /** How many examples of each family there are, of each answer and weather, and vehicles of each kind. */
  function drawFamilyCharts() {
    const page = $("charts"), all = !filtered("split") && matches.length > 0, some = sampled ? " of those on this page" : "";
    const splits = about.splits.filter((_, s) => !facets[0].chosen.size || facets[0].chosen.has(s));
    const tally = (key, size) => {
      const out = new Float64Array(size);
      if (all) for (const split of splits) split.counts[key].forEach((c, i) => { if (i < size) out[i] += c; });
      else for (const g of matches) (key === "kind" ? kindsOf(g) : [columns[key][g]]).forEach((i) => out[i]++);
      return out;
    };
    const n = all ? splits.reduce((sum, split) => sum + split.count, 0) : matches.length;
    page.innerHTML = `<p class="note">${count(n)} examples${all ? "" : `${some}, filtered`}. A name is a link that filters by it.</p>
      <div class="cards"><section id="chart-family"><h2>Families</h2></section><section id="chart-value"><h2>Answers</h2></section>
      <section id="chart-weather"><h2>Weather</h2></section><section id="chart-kind"><h2>Vehicles, by kind</h2></section></div>`;
    if (!n) return;
    const most = (counts) => [...counts.keys()].filter((i) => counts[i]).sort((a, b) => counts[b] - counts[a]).slice(0, CHARTED);
    const [, families, values, weathers] = facets;
    bars($("chart-family"), families, tally("family", about.families.length));
    const answers = tally("value", about.answers.length), kinds = tally("kind", about.entities.length);
    bars($("chart-value"), { ...values, order: most(answers) }, answers);
    bars($("chart-weather"), weathers, tally("weather", about.weathers.length));
    bars($("chart-kind"), { key: "any", names: about.entities, order: most(kinds) }, kinds);
  }

  function drawCharts() {
    if (asksFamilies()) return drawFamilyCharts();
    const k = about.entities.length, expected = !filtered("split") && matches.length > 0;
    const splits = about.splits.filter((_, s) => !facets[0].chosen.size || facets[0].chosen.has(s));
    // With no filter but splits, counts are those of the whole splits, also of examples that the page does not show.
    const tally = (key, size) => {
      const out = new Float64Array(size);
      if (expected) for (const split of splits) split.counts[key].forEach((c, i) => { if (i < size) out[i] += c; });
      else for (const g of matches) out[columns[key][g]]++;
      return out;
    };
    const n = expected ? splits.reduce((sum, split) => sum + split.count, 0) : matches.length;
    const mixed = (of) => { // the target of what is counted: each split's, by its share
      const out = new Float64Array(k);
      for (const split of splits) split.target[of].forEach((p, e) => { out[e] += (p * split.count) / n; });
      return out;
    };
    const page = $("charts"), some = sampled ? " of those on this page" : "";
    page.innerHTML = `<p class="note">${count(n)} examples${expected
      ? `${sampled ? ", all of the data set’s" : ""}. A tick marks what was asked for: ` + (about.frequencies === "vg" ? "Visual Genome’s frequencies" : escape(about.frequencies)) + " in train and val, uniform in test."
      : `${some}, filtered: no target to compare with.`}</p>
      <div class="cards"><section id="chart-answer"><h2>Answers</h2></section><section id="chart-relation"><h2>Relations</h2></section>
      <section id="chart-weather"><h2>Weather</h2></section><section id="chart-margin" class="wide"><h2>Margins, by answer${
  expected && sampled ? `, of ${count(matches.length)} examples on this page` : ""}</h2></section>
      <section id="chart-entity" class="wide"><h2>Vehicle kinds, by expected share as subject</h2><div class="two"><div><h3>as subject</h3></div><div><h3>as object</h3></div></div></section></div>`;
    if (!n) return;
    const occurring = about.weathers.map((name) => (about.occurring.includes(name) ? 1 / about.occurring.length : 0));
    bars($("chart-answer"), facets[1], tally("answer", 2), expected && [0.5, 0.5], (value) => ["no", "yes"][value]);
    // "left of" and "right of" are mirror images; of other relations, some are defined in more scenes than others.
    const mirrored = about.relations.map((r) => (about.asked.includes(r.name) ? 0.5 : 0)), pair = about.relations.filter((r) => about.asked.includes(r.name));
    const halves = pair.length === 2 && pair[0].axis === pair[1].axis && mirrored;
    bars($("chart-relation"), facets[2], tally("relation", about.relations.length), expected && halves);
    bars($("chart-weather"), facets[3], tally("weather", about.weathers.length), expected && occurring);
    const order = about.entities.map((_, e) => e).sort((x, y) => mixed0[y] - mixed0[x]);
    const sides = ["subject", "object"].map((role) => [role, tally(role, k), expected && mixed(role)]);
    const top = Math.max(...sides.map(([, counts, target]) => highest(counts, target))); // one scale for both
    sides.forEach(([role, counts, target], i) =>
      bars(page.querySelectorAll(".two > div")[i], { key: role, names: about.entities, order }, counts, target, undefined, top));
    histogram($("chart-margin"));
  }
  let mixed0; // the order of entities: by their target as subjects in the first split

  /** Width inside an element's padding. */
  function room(host) {
    const style = getComputedStyle(host);
    return host.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  }

  /** The largest share, counted or expected. */
  function highest(counts, target) {
    const n = counts.reduce((a, b) => a + b, 0);
    return Math.max(...counts.map((c) => c / n), ...(target || []));
  }

  /** Horizontal bars; a name is a link that filters by it. */
  function bars(host, facet, counts, target, tone = () => "", top = 0) {
    const order = facet.order ?? facet.names.map((_, i) => i).filter((i) => !facet.inputs[i].parentElement.hidden);
    const n = counts.reduce((a, b) => a + b, 0), step = 22, left = 128, right = 52, wide = room(host);
    const most = top || highest(counts, target), length = (x) => (x / most) * (wide - left - right);
    const rows = order.map((i, row) => {
      const y = row * step, tick = target ? left + length(target[i]) : 0;
      const words = `${facet.names[i]}: ${share(counts[i] / n)}, ${count(counts[i])} examples${target ? `, target ${share(target[i])}` : ""}`;
      return `<a href="#" data-value="${i}" aria-label="${escape(words)}"><title>${escape(words)}</title>
        <text x="${left - 8}" y="${y + 15}" text-anchor="end">${escape(facet.names[i])}</text>
        <rect class="bar ${tone(i)}" x="${left}" y="${y + 5}" width="${Math.max(length(counts[i] / n), counts[i] ? 1 : 0)}" height="12" rx="2"/>
        ${target ? `<path class="target" d="M${tick} ${y + 2}v18"/>` : ""}
        <text class="soft" x="${wide}" y="${y + 15}" text-anchor="end">${share(counts[i] / n)}</text></a>`;
    }).join("");
    host.insertAdjacentHTML("beforeend", `<svg viewBox="0 0 ${wide} ${order.length * step}" height="${order.length * step}">${rows}</svg>`);
    for (const link of host.querySelectorAll("a")) {
      link.onclick = (event) => {
        event.preventDefault();
        const value = Number(link.dataset.value);
        if (facet.chosen) {
          facet.chosen.clear();
          facet.chosen.add(value);
          facet.inputs.forEach((input, i) => { input.checked = i === value; });
        } else {
          chooseEntity(about.entities[value]);
          state.role = facet.key;
        }
        state.charts = false;
        sync();
        refilter();
      };
    }
  }

  /** Signed margins in steps of half a metre. */
  function histogram(host) {
    const step = 50, most = 1300, size = (2 * most) / step, counts = [new Float64Array(size), new Float64Array(size)];
    for (const g of matches) {
      const margin = columns.margin[g], place = (margin + most) / step;
      counts[columns.answer[g]][Math.min(size - 1, Math.max(0, margin > 0 ? Math.floor(place) : Math.ceil(place) - 1))]++;
    }
    const wide = room(host), high = 150, peak = Math.max(...counts[0], ...counts[1]), width = wide / size;
    const blocks = counts.map((values, answer) => [...values].map((value, i) => value && `<rect class="bar ${["no", "yes"][answer]}"
      x="${i * width + 1}" y="${high - (value / peak) * (high - 10)}" width="${width - 2}" height="${(value / peak) * (high - 10)}" rx="1.5"><title>${
      ["no", "yes"][answer]}, ${(i * step - most) / 100} to ${((i + 1) * step - most) / 100} m: ${count(value)}</title></rect>`).join("")).join("");
    const ticks = (wide < 420 ? [-10, -5, 0, 5, 10] : [-12, -9, -6, -3, 0, 3, 6, 9, 12]).map((m) => `<text class="soft" x="${((m * 100 + most) / step) * width}" y="${high + 18}"
      text-anchor="middle">${m} m</text>`).join("");
    host.insertAdjacentHTML("beforeend", `<svg viewBox="0 0 ${wide} ${high + 24}" height="${high + 24}" role="img"
      aria-label="How far relations hold or fail, in metres"><path class="axis" d="M0 ${high}H${wide}"/>${blocks}${ticks}</svg>
      <p class="why">Metres by which what is asked holds (<b class="answer yes">yes</b>) or fails
      (<b class="answer no">no</b>). Near 0 a relation is undefined and never asked.</p>`);
  }

  // ---------------------------------------------------------------- the whole

  /** Everything that follows from the state. */
  function show() {
    sync();
    $("charts").hidden = !state.charts;
    grid.hidden = state.charts;
    $("nothing").hidden = matches.length > 0 || state.charts;
    $("inspector").hidden = !state.open || state.charts;
    for (const key of ["boxes", "masks"]) $(key).hidden = state.charts;
    if (state.charts) drawCharts();
    else layout();
    drawInspector();
    remember();
  }

  function toggle(key) {
    state[key] = !state[key];
    show();
    if (key === "charts" && !state.charts) grid.focus();
  }

  /** The address says what is shown, so that it can be kept and passed on. */
  function remember() {
    const words = new URLSearchParams();
    for (const f of facets) if (f.chosen.size) words.set(f.key, [...f.chosen].map((value) => f.names[value] ?? value).join(","));
    if (state.entity >= 0) words.set("entity", about.entities[state.entity]);
    if (state.role !== "any") words.set("role", state.role);
    for (const key of ["from", "to"]) if (state[key] !== ANY[key]) words.set(key, state[key]);
    for (const key of ["boxes", "masks", "charts", "open"]) if (state[key]) words.set(key, "1");
    const g = current();
    if (aside >= 0 || at) words.set("at", `${about.splits[splitOf(g)].name}:${numberOf(g)}`);
    try { history.replaceState(null, "", `#${words}`); } catch { /* an address may not be changed here */ }
    tell();
  }

  /** Tell the page around what is shown. */
  function tell() {
    if (framed && !following) parent.postMessage({ words: location.hash.slice(1), theme: document.documentElement.dataset.theme }, "*");
  }

  /** Show what the address says: when the page is opened, and when somebody changes the address. */
  function recall() {
    const words = new URLSearchParams(location.hash.slice(1));
    for (const f of facets) {
      const names = (words.get(f.key) ?? "").split(",");
      f.chosen.clear();
      for (const name of names) if (name && !f.names.includes(name)) f.chosen.add(name); // another data set's: none here has it
      f.names.forEach((name, value) => {
        f.inputs[value].checked = names.includes(name);
        if (names.includes(name)) f.chosen.add(value);
      });
    }
    chooseEntity(words.get("entity") ?? "");
    state.role = ROLES.includes(words.get("role")) ? words.get("role") : "any";
    for (const key of ["from", "to"]) state[key] = Number(words.get(key)) || ANY[key];
    for (const key of ["boxes", "masks", "charts", "open"]) state[key] = words.has(key);
    const [name, number] = (words.get("at") ?? "").split(":"), g = exampleOf(about.splits.findIndex((s) => s.name === name), Number(number));
    at = 0;
    grid.scrollTop = 0;
    refilter();
    if (matches.includes(g)) select(matches.indexOf(g));
    else if (g >= 0 && words.has("open")) go(g);
  }

  function setTheme(theme, keep) {
    document.documentElement.dataset.theme = theme;
    if (keep) try { localStorage.setItem("simtown-theme", theme); } catch { /* nothing is kept here */ }
  }

  function startTheme() {
    let kept = null;
    try { kept = localStorage.getItem("simtown-theme"); } catch { /* nothing is kept here */ }
    if (kept) setTheme(kept);
    $("theme").onclick = () => {
      const shown = document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
      setTheme(shown === "dark" ? "light" : "dark", true);
      tell();
    };
  }

  function keys(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open) return;
    const typing = event.target.matches("input:not([type=checkbox], [type=radio])");
    if (event.key === "Escape") {
      if (showingFilters()) showFilters(false);
      else if (typing) grid.focus();
      else if (state.open) close();
      return;
    }
    if (typing) return;
    const page = Math.max(1, Math.floor(grid.clientHeight / shape.row)) * shape.across;
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -shape.across, ArrowDown: shape.across, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity };
    const free = event.target === grid || event.target === document.body || $("inspector").contains(event.target);
    if (event.key in steps && free && !state.charts) {
      const place = at + steps[event.key];
      if (place >= 0 && place < matches.length) select(place);
      else if (["Home", "PageUp"].includes(event.key)) select(0);
      else if (["End", "PageDown"].includes(event.key)) select(matches.length - 1);
    } else if (event.key === "Enter" && event.target === grid) open();
    else if (event.key === "/") showFilters(true);
    else if (event.key === "g") { showFilters(true); $("jump").select(); }
    else if (event.key === "?") $("keys").showModal();
    else {
      const action = { b: () => toggle("boxes"), m: () => toggle("masks"), d: () => toggle("charts"), c: clear, t: () => $("theme").click() }[event.key.toLowerCase()];
      if (!action) return;
      action();
    }
    event.preventDefault();
  }

  function begin(given) {
    about = given;
    columns = Object.fromEntries(Object.entries(given.columns).map(([name, text]) => [name, bytes(text)]));
    if (asksFamilies()) columns.value = new Uint16Array(columns.value.buffer);
    columns.margin = new Int16Array(columns.margin.buffer);
    total = columns.weather.length;
    starts = [];
    const split = new Uint8Array(total);
    about.splits.reduce((start, own, s) => { starts.push(start); split.fill(s, start, start + shownOf(own)); return start + shownOf(own); }, 0);
    const facet = (key, title, names, values) => ({ key, title, names, values, chosen: new Set(), inputs: [], outputs: [] });
    facets = [
      facet("split", "Split", about.splits.map((s) => s.name), split),
      ...(asksFamilies()
        ? [facet("family", "Family", about.families, columns.family), { ...facet("answer", "Answer", about.answers, columns.value), long: true }]
        : [facet("answer", "Answer", ["no", "yes"], columns.answer), facet("relation", "Relation", about.relations.map((r) => r.name), columns.relation)]),
      facet("weather", "Weather", about.weathers, columns.weather),
    ];
    if (!asksFamilies()) mixed0 = about.splits[0].target.subject;
    $("about").textContent = `${about.entities.length} entities · ${about.splits.map((s) => `${count(s.count)} ${s.name}`).join(" · ")} · ${about.size.join(" × ")} pixels`;
    if (about.shots > 1 && !matchMedia("(prefers-reduced-motion: reduce)").matches) setInterval(play, 700);
    explainSample();
    buildFilters();
    recall();
    window.onhashchange = recall; // the page's own changes of the address do not come here
    window.onmessage = ({ source, data }) => {
      if (!framed || source !== parent || data.words === location.hash.slice(1) && data.theme === document.documentElement.dataset.theme) return;
      following = true;
      if (data.theme) setTheme(data.theme);
      if (data.words !== location.hash.slice(1)) {
        history.replaceState(null, "", `#${data.words}`);
        recall();
      }
      following = false;
    };
    grid.onscroll = refresh;
    new ResizeObserver(() => {
      if (state.charts) return drawCharts();
      layout();
      if (state.open && matches.length) reveal();
    }).observe(document.querySelector("main"));
    document.onkeydown = keys;
    for (const key of ["boxes", "masks"]) $(key).onclick = () => toggle(key);
    for (const key of ["charts", "examples"]) $(`show-${key}`).onclick = () => { state.charts = key === "charts"; showFilters(false); show(); };
    $("help").onclick = () => $("keys").showModal();
    if (!framed) grid.focus();
    document.documentElement.dataset.ready = "1";
  }

  startTheme();
  return { begin, detail: (split, number, rows) => arrived.set(`${split}-${String(number).padStart(5, "0")}`, rows) };
})();

{
  const script = document.createElement("script");
  script.src = "data/index.js";
  script.onerror = () => { document.body.innerHTML = '<p id="broken">The folder data/ is missing: it belongs beside index.html.</p>'; };
  document.head.append(script);
}
