"use strict";
// The page of `simtown play`: it sends verbs, one at a time, and shows the picture, the town and the answers that come back.

(() => {
  const $ = (id) => document.getElementById(id);
  const WIDE = 1600, HIGH = 900; // the units of places in the picture
  const SKIES = { clear: "☀", cloudy: "☁", rain: "☂", fog: "≋", snow: "❄", dusk: "◓", night: "☾" };
  const GROUPS = { vehicle: "Vehicles", person: "People", furniture: "Street", animal: "Animals", tree: "Trees", building: "Houses", cloud: "Clouds" };
  const SCENERY = ["building", "tree", "cloud"]; // a finger on it scrolls the page
  const state = { chosen: null, pinned: null, boxes: false, names: false, overlay: "", going: false, group: "vehicle" };
  let catalogue, town, answers = [], reply = {}, ghost = null, held = null, flown = {}; // where keys have sent the camera
  let gesture = Date.now(), lastKey = 0, quick = true; // whether pictures come fast enough to be large while something is dragged

  // ---------------------------------------------------------------- asking the server

  const queue = [];
  let busy = false, settling = 0, unsaid = false; // something moved, and a screen reader has not been told where to

  /** Send a verb; of the places of one drag, only the newest waits. */
  function act(verb, given = {}, more = {}) {
    clearTimeout(settling);
    const last = queue.at(-1), relative = ["move", "turn", "step"].includes(verb);
    if (last?.verb === verb && last.moving && more.moving && last.gesture === more.gesture && !relative) queue.pop();
    queue.push({ verb, given, ...more });
    return pump();
  }

  async function pump() {
    if (busy) return;
    busy = true;
    while (queue.length) {
      const request = queue.shift(), began = performance.now();
      try {
        const response = await fetch("do", { method: "POST", body: JSON.stringify({ size: size(request.moving), overlay: state.overlay, ...request }) });
        if (!response.ok) throw new Error(response.status === 400 ? await response.text() : "");
        await accept(await response.json(), request);
        if (request.moving) quick = performance.now() - began < (quick ? 60 : 25);
        $("banner").hidden = true;
      } catch (error) {
        lost(error);
        break;
      }
    }
    busy = false;
    if (queue.length) pump();
  }

  const look = () => act("look");
  const settle = (wait = 120, said = false) => {
    clearTimeout(settling);
    unsaid ||= said;
    settling = setTimeout(() => { act("look", {}, { said: unsaid }); unsaid = false; }, wait);
  };

  /** The size of the next picture: what the page shows at rest, less while something moves. */
  function size(moving) {
    const wide = $("stage").clientWidth, sharp = Math.min(wide * devicePixelRatio, 1664);
    const across = moving ? Math.min(wide, 832) / (quick ? 1 : 2) : Math.max(sharp, 640);
    return [2 * Math.round(across / 2), 2 * Math.round((across * HIGH) / WIDE / 2)];
  }

  /** The server has gone: what is seen stays, and the page waits for it. */
  function lost(error) {
    queue.length = 0;
    state.going = false;
    $("banner").hidden = false;
    $("banner").textContent = error.message && !(error instanceof TypeError) ? `This did not work: ${error.message}`
      : "simtown play has stopped, so the street stands still. Start it again; Python and the link to this street are still here.";
    setTimeout(() => { if (!$("banner").hidden && !busy) look(); }, 3000);
  }

  async function accept(given, request) {
    reply = { ...reply, ...given };
    ({ town, answers } = given);
    $("picture").src = given.picture;
    await $("picture").decode().catch(() => {});
    if (!thing(state.chosen)) state.chosen = null;
    if (!held || request.verb !== "look") ghost = null;
    if (!queue.length) flown = {};
    if (given.error) refuse(given, request);
    else if (request.verb === "ask") $("instead").hidden = true;
    if (!request.moving) {
      history.replaceState({ own: true }, "", `#${given.link}`);
      announce(request);
    }
    draw();
    if (request.moving && !held && !state.going) settle(120, true);
    request.after?.(given);
  }

  /** What the town cannot do: a ghost where something does not fit, words for everything else. */
  function refuse({ error, instead }, { verb, moving, given = {} }) {
    const moved = verb === "change" && given.x !== undefined && thing(given.thing);
    if (moved) ghost = { thing: moved, x: given.x, y: given.y };
    if (instead) {
      $("instead").replaceChildren(element("p", {}, error), ...instead.map(offer));
      $("instead").hidden = false;
    } else tip(error, !moving);
  }

  let tipping = 0;
  function tip(words, aloud = true) {
    $("tip").textContent = words;
    $("tip").hidden = false;
    if (aloud) say(words);
    clearTimeout(tipping);
    tipping = setTimeout(() => { $("tip").hidden = true; }, 5000);
  }

  const say = (words) => { $("status").textContent = words; };

  let told = new Map(); // answers that a screen reader knows

  /** Tell a screen reader where the chosen thing is now, and which answers have changed. */
  function announce(request) {
    const flips = answers.filter((a) => told.has(a.question) && told.get(a.question) !== a.text).map((a) => `${a.question} Now ${a.text}.`);
    told = new Map(answers.map((a) => [a.question, a.text]));
    const t = thing(state.chosen), words = [t && (request.verb !== "look" || request.said) && place(t), ...flips].filter(Boolean);
    if (words.length && !reply.error) say(words.join(" "));
  }

  // ---------------------------------------------------------------- geometry

  const thing = (name) => town.things.find((t) => t.name === name);
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const clip = (value, low, high) => Math.max(low, Math.min(high, value));
  const place = (t) => `${t.called.replace(/^the /, "")}: ${t.x.toFixed(2)} m along, ${t.y.toFixed(2)} m across`;

  function camera() {
    const v = town.view;
    return { eye: v.slice(0, 3), right: v.slice(3, 6), up: v.slice(6, 9), forward: v.slice(9, 12), focal: v[12], x: v[13], y: v[14] };
  }

  /** Where a point of the town is in the picture; null behind the camera. */
  function project(x, y, z) {
    const c = camera(), d = [x - c.eye[0], y - c.eye[1], z - c.eye[2]], ahead = dot(d, c.forward);
    return ahead > 0.5 ? [c.x + (c.focal * dot(d, c.right)) / ahead, c.y - (c.focal * dot(d, c.up)) / ahead] : null;
  }

  /** The point of the ground, or of a height above it, that the picture shows in a place; null in the sky. */
  function ground(px, py, z = 0) {
    const c = camera(), a = (px - c.x) / c.focal, b = (c.y - py) / c.focal;
    const ray = c.forward.map((f, i) => f + a * c.right[i] + b * c.up[i]);
    const far = (z - c.eye[2]) / ray[2];
    return far > 0 && far < 200 ? [c.eye[0] + far * ray[0], c.eye[1] + far * ray[1]] : null;
  }

  /** The corners of the ground where it is too close to say whether a relation holds; null if it has no such strip. */
  function band({ relation, names, band: most }) {
    const object = thing(names[1]), { x: cx, y: cy, z: height, yaw, pitch } = town.camera;
    const along = (ux, uy) => [[-most, -40], [-most, 40], [most, 40], [most, -40]].map(([a, b]) => [object.x + a * ux - b * uy, object.y + a * uy + b * ux]);
    const own = { "driver-left": Math.PI / 2, "driver-right": Math.PI / 2, "driver-front": 0, "driver-behind": 0 };
    if (relation in own) return along(Math.cos(object.front + own[relation]), Math.sin(object.front + own[relation]));
    const right = [Math.cos(yaw), Math.sin(yaw)], ahead = [-right[1], right[0]];
    if (relation === "in front of" || relation === "behind") return along(...ahead);
    if (relation !== "left of" && relation !== "right of") return null;
    const depth = (a) => a * Math.cos(pitch) - height * Math.sin(pitch);
    const dx = object.x - cx, dy = object.y - cy, its = dx * ahead[0] + dy * ahead[1], slope = (dx * right[0] + dy * right[1]) / depth(its);
    const edge = (side, a) => { // where the lateral separation of a thing so far ahead is the margin
      const lateral = depth(a) * (slope + (side * most) / (0.5 * (depth(a) + depth(its))));
      return [cx + a * ahead[0] + lateral * right[0], cy + a * ahead[1] + lateral * right[1]];
    };
    const depths = [-6, -4, -2, 0, 2, 4, 6].map((d) => its + d).filter((a) => a > 3);
    return [...depths.map((a) => edge(-1, a)), ...depths.reverse().map((a) => edge(1, a))];
  }

  /** The words on a strip, at the lowest place of its middle that a frame x0, y0, x1, y1 has room for. */
  function stripWords(corners, [x0, y0, x1, y1], more = "") {
    const half = corners.length / 2, middle = (p, q) => p.map((v, i) => (v + q[i]) / 2);
    const from = middle(corners[0], corners.at(-1)), to = middle(corners[half - 1], corners[half]);
    const places = Array.from({ length: 161 }, (_, i) => from.map((v, k) => v + (i / 160) * (to[k] - v)));
    const [best] = places.filter(([x, y]) => x > x0 && x < x1 && y > y0 && y < y1).sort((a, b) => b[1] - a[1]);
    return best ? `<text class="strip" x="${best[0]}" y="${best[1]}" ${more}>too close to say</text>` : "";
  }

  /** The answer whose ruler is drawn: one that was chosen, or the newest about the chosen thing, or the newest. */
  function focus() {
    const related = answers.filter((a) => a.names?.every(thing));
    return related.find((a) => a.question === state.pinned) ?? related.find((a) => a.names.includes(state.chosen)) ?? related[0];
  }

  // ---------------------------------------------------------------- drawing

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) made[name] = value;
      else made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  }

  const offer = (question) => element("button", { type: "button", onclick: () => ask(question) }, question);
  const escape = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
  const points = (corners) => corners.map((p) => p.map((v) => v.toFixed(2)).join(",")).join(" ");
  const polygon = (name, corners) => `<polygon class="${name}" points="${points(corners)}"/>`;
  const hits = (labels, label, high) => labels.some((l) => Math.abs(l.y - label.y) < high && Math.abs(l.x - label.x) < l.wide + label.wide);

  /** Everything that follows from the state and the last reply. */
  function draw() {
    const about = focus(), role = (t) => ["subject", "object"][about?.names.indexOf(t.name)] ?? "", strip = about && band(about);
    drawMarks(role, strip);
    drawMap(about, role, strip);
    drawLog(about);
    drawChosen();
    drawSky();
    $("picture").alt = reply.describe ?? "";
    $("offers").replaceChildren(...(reply.offers ?? []).map(offer));
    $("clip").hidden = $("film").hidden = !town.drives;
    $("second").max = town.seconds;
    if (document.activeElement !== $("second") || state.going) $("second").value = town.second;
    $("clip").querySelector("output").textContent = `${town.second.toFixed(2)} s`;
    $("go").textContent = state.going ? "❚❚ Stop" : "▶ Go";
    $("undo").disabled = !town.undo;
    $("redo").disabled = !town.redo;
    $("python").textContent = reply.python ?? "";
    const pressed = { boxes: state.boxes, names: state.names, masks: state.overlay === "masks", depth: state.overlay === "depth" };
    for (const [name, on] of Object.entries(pressed)) document.querySelector(`[data-do=${name}]`).setAttribute("aria-pressed", on);
  }

  /** What lies on the picture: outlines that pointers hit, the grey strip, boxes, names, and a ghost where something does not fit. */
  function drawMarks(role, strip) {
    const corners = strip?.map(([x, y]) => project(x, y, 0)), parts = [], labels = [], letter = (13 * WIDE) / $("stage").clientWidth;
    const shown = town.things.filter((t) => t.shape).sort((a, b) => b.y - a.y), near = shown.filter((t) => !SCENERY.includes(t.group));
    const path = (t, name) => `<path class="${name} ${t.group} ${t.name === state.chosen ? "chosen" : ""}" data-name="${escape(t.name)}" d="${t.shape}"><title>${escape(t.name)}</title></path>`;
    for (const t of shown) if (!near.includes(t)) parts.push(path(t, "thing"));
    for (const name of ["reach", "thing"]) parts.push(...near.map((t) => path(t, name)));
    if (corners?.every(Boolean) && !state.overlay) {
      const room = 4.5 * letter;
      parts.push(polygon("band", corners), stripWords(corners, [room, 0, WIDE - room, HIGH - 0.6 * letter], `font-size="${letter}"`));
    }
    for (const t of shown.filter((s) => s.group !== "cloud").sort((a, b) => (b.group === "vehicle") - (a.group === "vehicle"))) {
      const [x0, y0, x1, y1] = t.box, wide = 0.34 * letter * t.name.length;
      if (state.boxes) parts.push(`<rect class="box ${role(t) || t.group}" x="${x0}" y="${y0}" width="${x1 - x0}" height="${y1 - y0}"/>`);
      const label = { x: clip((x0 + x1) / 2, wide, WIDE - wide), y: Math.max(y0 - 8, letter), wide };
      if (!state.names || hits(labels, label, 1.1 * letter)) continue;
      labels.push(label);
      parts.push(`<text class="name" font-size="${letter}" x="${label.x}" y="${label.y}">${escape(t.name)}</text>`);
    }
    if (ghost) parts.push(shadow(ghost));
    else if (held?.moved) $("tip").hidden = true;
    $("marks").innerHTML = parts.join("");
  }

  /** The outline of a thing where it would stand. */
  function shadow({ thing: t, x, y }) {
    const from = project(t.x, t.y, t.z), to = project(x, y, t.z);
    return from && to ? `<path class="ghost" d="${t.shape ?? ""}" transform="translate(${to[0] - from[0]} ${to[1] - from[1]})"/>` : "";
  }

  const LOW = -6, TOP = 7.4; // of the map, metres across the road; its y points down

  function drawMap(about, role, strip) {
    const h = clip($("map").clientWidth / 28, 13, 24), across = (y0, y1, name) => `<rect class="${name}" x="${-h}" y="${-y1}" width="${2 * h}" height="${y1 - y0}"/>`;
    const parts = [across(LOW, TOP, "lawn"), across(3.7, 6.6, "pavement"), across(-5.8, 3.7, "road"), `<path class="lane" d="M${-h} 0H${h}"/>`];
    const { x: cx, y: cy, yaw } = town.camera, reach = WIDE / 2 / camera().focal;
    const edge = (s) => [cx + 40 * (-Math.sin(yaw) + s * reach * Math.cos(yaw)), -cy - 40 * (Math.cos(yaw) + s * reach * Math.sin(yaw))];
    parts.push(`<path class="view" d="M${edge(-1)}L${cx} ${-cy}L${edge(1)}"/>`);
    if (strip) parts.push(polygon("band", strip.map(([x, y]) => [x, -y])));
    const shape = (t, name, dx = 0, dy = 0) => polygon(name, t.outline.map(([x, y]) => [x + dx, -y - dy]));
    for (const t of town.things.filter((s) => s.group !== "cloud").sort((a, b) => a.high - b.high)) {
      const nose = `<path class="nose" d="M${t.x} ${-t.y}l${Math.cos(t.front) / 2} ${-Math.sin(t.front) / 2}"/>`;
      parts.push(`<g data-name="${escape(t.name)}" class="${t.name === state.chosen ? "chosen" : ""}"><title>${escape(t.name)}</title>${
        shape(t, `${t.group} ${role(t)}`)}${t.group === "vehicle" ? nose : ""}</g>`);
    }
    const labels = [];
    for (const t of town.things.filter((v) => v.group === "vehicle").sort((a, b) => a.x - b.x)) {
      const label = { x: t.x, y: -t.y - 1.2, wide: 0.25 * t.name.length + 0.2 };
      while (hits(labels, label, 0.85)) label.y -= 0.9;
      labels.push(label);
      parts.push(`<text x="${label.x}" y="${label.y}">${escape(t.name)}</text>`);
    }
    if (strip) parts.push(stripWords(strip.map(([x, y]) => [x, -y]), [4 - h, -TOP, h - 4, -LOW - 0.3]));
    if (ghost) parts.push(shape(ghost.thing, "ghost", ghost.x - ghost.thing.x, ghost.y - ghost.thing.y));
    if (about) {
      const [s, o] = about.names.map(thing), metres = about.margin === null ? "" : `${Math.abs(about.margin).toFixed(2)} m`;
      parts.push(`<path class="ruler" d="M${s.x} ${-s.y}L${o.x} ${-o.y}"/>`);
      parts.push(`<text class="metres ${about.verdict}" x="${(s.x + o.x) / 2}" y="${2.2 - Math.min(s.y, o.y)}">${metres}</text>`);
    }
    $("map").setAttribute("viewBox", `${-h} ${-TOP} ${2 * h} ${TOP - LOW}`);
    $("map").innerHTML = parts.join("");
  }

  const lines = new Map(); // the log's lines by question; they stay, so that a dot slides
  function drawLog(about) {
    for (const [question, line] of lines) if (!answers.some((a) => a.question === question)) { line.remove(); lines.delete(question); }
    answers.forEach((a, i) => {
      const line = lines.get(a.question) ?? makeLine(a.question), part = (selector) => line.querySelector(selector);
      if ($("log").children[i] !== line) $("log").insertBefore(line, $("log").children[i] ?? null);
      line.className = `${a.verdict} ${a === about ? "focused" : ""}`;
      const verdict = part(".verdict"), words = { close: "too close to say", none: "no answer" }[a.verdict] ?? a.text ?? "";
      if (verdict.textContent && verdict.textContent !== words) verdict.animate([{ transform: "scale(1.25)" }, { transform: "none" }], 250);
      verdict.textContent = words;
      part(".why").textContent = a.why;
      const bar = part(".track"), m = a.model;
      bar.hidden = a.band === undefined || a.margin === null;
      if (!bar.hidden) {
        const far = Math.max(8, a.band * 4), share = (metres) => `${50 + 50 * clip(metres / far, -1, 1)}%`;
        Object.assign(part(".close").style, { left: share(-a.band), right: `calc(100% - ${share(a.band)})` });
        part(".dot").style.left = share(a.margin);
        bar.setAttribute("aria-label", `Holds by ${a.margin.toFixed(2)} m; up to ${a.band} m is too close to say`);
        const [words, ...ends] = bar.querySelectorAll("small");
        words.textContent = `±${a.band} m: too close to say`;
        ends.forEach((end, side) => { end.textContent = `${side ? "" : "−"}${far} m`; });
      }
      part(".model").hidden = !m;
      part(".model b").textContent = town.run;
      part(".model span").textContent = m?.text;
      part(".mark").textContent = { true: "✓ right", false: "✗ wrong" }[m?.right] ?? "";
      part(".mark").className = `mark ${m?.right ? "right" : "wrong"}`;
    });
  }

  function makeLine(question) {
    const line = $("line").content.firstElementChild.cloneNode(true), [pin, forget] = line.querySelectorAll("button");
    pin.textContent = question;
    pin.onclick = () => { state.pinned = question; draw(); };
    forget.setAttribute("aria-label", `Forget: ${question}`);
    forget.onclick = () => act("forget", { question });
    lines.set(question, line);
    return line;
  }

  function drawChosen() {
    const t = thing(state.chosen), host = $("chosen");
    host.hidden = !t;
    $("hint").hidden = Boolean(t);
    if (!t) return;
    host.querySelector("b").textContent = t.name;
    host.querySelector("output").textContent = `x ${t.x.toFixed(2)}, y ${t.y.toFixed(2)} m${t.box ? "" : ", not in view"}`;
    $("painting").hidden = !t.paintable;
    $("driving").hidden = t.group !== "vehicle";
    if (document.activeElement !== $("speed")) $("speed").value = t.pace;
    for (const swatch of $("paints").children) swatch.setAttribute("aria-pressed", swatch.value === (t.paint ?? ""));
  }

  function drawSky() {
    const { kind, intensity, sun_azimuth: azimuth } = town.weather, radio = document.querySelector(`#weathers [value="${kind}"]`);
    if (radio) radio.checked = true;
    if (document.activeElement !== $("intensity")) $("intensity").value = intensity;
    if (document.activeElement !== $("hour")) $("hour").value = 6 + (12 * Math.abs(Math.atan2(Math.sin(azimuth), Math.cos(azimuth)))) / Math.PI;
    $("clock").textContent = `${Math.floor($("hour").value)}:${String(Math.floor(($("hour").value % 1) * 60)).padStart(2, "0")}`;
  }

  function drawShelf() {
    const typed = $("search").value.trim().toLowerCase(), kinds = catalogue.kinds;
    for (const button of $("groups").children) button.setAttribute("aria-pressed", !typed && button.value === state.group);
    const listed = typed ? Object.values(kinds).flat().filter((kind) => kind.toLowerCase().includes(typed)) : kinds[state.group];
    $("kinds").replaceChildren(...listed.map((kind) => {
      const image = element("img", { src: `thumb/${encodeURIComponent(kind)}.png`, alt: "", loading: "lazy", width: 144, height: 96, draggable: "false" });
      return element("button", { type: "button", value: kind, title: `Add: ${kind}` }, image, kind);
    }));
    if (!listed.length) $("kinds").append(element("p", {}, `Nothing is called “${typed}”.`));
  }

  // ---------------------------------------------------------------- verbs

  function choose(name, aloud = true) {
    state.chosen = name;
    draw();
    if (aloud && name) say(place(thing(name)));
  }

  function ask(question) {
    const words = question.trim(), after = ({ error }) => {
      if (error) return;
      $("question").value = "";
      state.pinned = null;
      draw();
      say(`${words} ${answers[0].text ?? ""}: ${answers[0].why ?? ""}`);
    };
    if (words) act("ask", { question: words }, { after });
  }

  /** What keys do one after the other is one gesture. */
  function keyed() {
    const t = Date.now();
    if (t - lastKey > 800) gesture = t;
    lastKey = t;
    return { gesture, moving: true };
  }

  const turn = (way) => act("turn", { thing: state.chosen, by: (way * Math.PI) / 12 }, keyed());

  function paints() {
    if ($("painting").offsetParent === null) return;
    $("painting").open = true;
    $("paints").firstChild.focus();
  }

  function remove() {
    act("remove", { things: [state.chosen] });
    state.chosen = null;
    $("stage").focus({ preventScroll: true });
  }

  function next(way) {
    const order = town.things.filter((t) => t.box && t.group !== "cloud"), at = order.findIndex((t) => t.name === state.chosen);
    if (order.length) choose(order[(at + way + order.length) % order.length].name);
  }

  function add(kind, spot) {
    const before = new Set(town.things.map((t) => t.name)), given = spot ? { kind, x: spot[0], y: spot[1] } : { kind };
    act("place", given, { after: ({ error }) => { const made = town.things.find((t) => !before.has(t.name)); if (!error && made) choose(made.name); } });
  }

  /** Move the camera to its right and ahead, metres, and zoom by a factor. */
  function fly(right, ahead, zoom, how, from = { ...town.camera, ...flown }) {
    const s = Math.sin(from.yaw), c = Math.cos(from.yaw);
    const x = clip(from.x + right * c - ahead * s, -30, 30), y = clip(from.y + right * s + ahead * c, -30, -7);
    flown = { x, y, focal: clip(from.focal * zoom, 0.5, 3) };
    act("camera", flown, how);
  }

  /** Show the street at a second of its film; where nothing drives yet, the vehicles on the road drive off. */
  function go() {
    state.going = !state.going;
    if (!state.going) look();
    else if (town.drives) play();
    else act("drive", {}, { moving: true, after: play });
  }
  function play() {
    const from = town.second < town.seconds ? town.second : 0, began = performance.now();
    const step = ({ error } = {}) => {
      if (error || !town.drives || (state.going && town.second >= town.seconds)) state.going = false;
      if (!state.going) return look();
      return act("second", { second: Math.min(from + (performance.now() - began) / 1000, town.seconds) }, { moving: true, after: step });
    };
    act("second", { second: from }, { moving: true, after: step });
  }

  function street() {
    state.chosen = state.pinned = null;
    state.going = false;
    act("street", { seed: Math.floor(Math.random() * 100000) });
  }

  function overlay({ dataset }) {
    state.overlay = state.overlay === dataset.do ? "" : dataset.do;
    look();
  }

  function mark({ dataset }) {
    state[dataset.do] = !state[dataset.do];
    draw();
  }

  function theme() {
    const root = document.documentElement, dark = (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    root.dataset.theme = dark ? "light" : "dark";
  }

  async function copy(text, button) {
    const words = button.textContent;
    try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; } catch { button.textContent = "Not allowed here"; }
    say(button.textContent);
    setTimeout(() => { button.textContent = words; }, 1500);
  }

  // ---------------------------------------------------------------- examples of a data set

  async function drawExamples() {
    const host = $("drawn"), settings = Object.fromEntries([...new FormData($("settings"))].filter(([, value]) => value));
    for (const key of ["questions", "weathers", "relations"]) if (key in settings) settings[key] = settings[key].split(",");
    host.setAttribute("aria-busy", "true");
    const response = await fetch("draw", { method: "POST", body: JSON.stringify(settings) }).catch(() => null);
    const error = response?.ok ? "" : ((await response?.text()) ?? "simtown play has stopped"), { examples = [], command = "" } = error ? {} : await response.json();
    const figure = ({ picture, answer }, about) => element("figure", {}, element("img", { src: picture, alt: `${about}: the answer is ${answer}` }), element("figcaption", { class: answer }, answer));
    const cards = examples.map((e) => element("li", {}, element("b", {}, e.question),
      element("div", { class: "pair" }, figure(e, e.question), ...(e.twin.answer ? [figure(e.twin, "Its twin")] : [])), element("p", {}, e.why)));
    host.replaceChildren(...(error ? [element("li", {}, error)] : cards));
    host.removeAttribute("aria-busy");
    $("command").textContent = command;
    say(error || `${cards.length} examples`);
  }

  // ---------------------------------------------------------------- pointers

  const point = (svg, { clientX, clientY }) => {
    const at = new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM().inverse());
    return [at.x, at.y];
  };
  // Things are dragged in both: where the foot of one is drawn, and the place of the town that a point means.
  const surfaces = {
    stage: { svg: $("marks"), foot: (t) => project(t.x, t.y, t.z) ?? [WIDE / 2, HIGH / 2], lands: ground },
    map: { svg: $("map"), foot: (t) => [t.x, -t.y], lands: (x, y) => [x, -y] },
  };
  const fingers = new Map(); // the last event of each pointer that is down on the street

  const hold = (event, move) => { held = { move, x: event.clientX, y: event.clientY, moved: false, how: { moving: true, gesture: ++gesture } }; };

  function grab(event, { svg, foot, lands }, t) {
    const from = point(svg, event), [x0, y0] = foot(t);
    choose(t.name, false);
    hold(event, (e) => {
      const p = point(svg, e), at = lands(p[0] - from[0] + x0, p[1] - from[1] + y0, t.z);
      if (!at || !thing(t.name)) return;
      const x = clip(at[0], -60, 60), lane = t.group === "vehicle" && catalogue.lanes.find((lane) => Math.abs(lane - at[1]) < 0.45);
      act("change", { thing: t.name, x, y: e.shiftKey ? t.y : lane || clip(at[1], -8, 90) }, held.how);
    });
  }

  /** Move the camera with one pointer or, by how they part, zoom with two. */
  function pan(event) {
    const start = town.camera, metres = 12 / camera().focal; // of the picture's units, on the road
    const spots = () => [...fingers.values()].map((e) => point($("marks"), e)), middle = (all, i) => all.reduce((sum, p) => sum + p[i], 0) / all.length;
    const apart = ([a, b]) => (b ? Math.hypot(a[0] - b[0], a[1] - b[1]) : 1), from = spots();
    hold(event, () => {
      const to = spots(), [right, ahead] = [0, 1].map((i) => (middle(to, i) - middle(from, i)) * metres);
      fly(-right, 2 * ahead, apart(to) / apart(from), held.how, start);
    });
  }

  function press(event) {
    const host = event.currentTarget, surface = surfaces[host.id], touch = event.pointerType === "touch";
    if (event.button || !town) return;
    if (surface === surfaces.stage) fingers.set(event.pointerId, event);
    host.setPointerCapture(event.pointerId);
    const t = thing(event.target.closest("[data-name]")?.dataset.name);
    if (fingers.size > 1) pan(event);
    else if (touch && (!t || (SCENERY.includes(t.group) && t.name !== state.chosen))) hold(event, () => {});
    else if (t) grab(event, surface, t);
    else {
      choose(null);
      if (surface === surfaces.stage) pan(event);
    }
    if (held) held.tapped = t?.name ?? null;
  }

  function slide(event) {
    if (fingers.has(event.pointerId)) fingers.set(event.pointerId, event);
    if (!held) return;
    held.moved ||= Math.hypot(event.clientX - held.x, event.clientY - held.y) >= 4;
    if (held.moved) held.move(event);
  }

  let last = {}; // what was tapped, and when
  function release(event) {
    const { moved, tapped } = held ?? {}, twice = tapped && tapped === last.tapped && event.timeStamp - last.time < 500;
    last = { tapped, time: event.timeStamp };
    fingers.delete(event.pointerId);
    held = null;
    if (moved) act("look", {}, { said: true });
    else if (event.type === "pointerup" && tapped !== undefined) choose(tapped, false);
    if (twice) setTimeout(paints); // after the click, which closes menus
  }

  function startPointers() {
    for (const id of Object.keys(surfaces)) {
      $(id).onpointerdown = press;
      $(id).onpointermove = slide;
      $(id).onpointerup = $(id).onpointercancel = release;
    }
    for (const type of ["touchstart", "touchmove"]) $("stage").addEventListener(type, (event) => { if (event.touches.length > 1) event.preventDefault(); }, { passive: false });
    let carried = ""; // the kind that is dragged from the shelf
    $("kinds").onclick = (event) => { const button = event.target.closest("button"); if (button) add(button.value); };
    $("kinds").onpointerdown = (event) => { carried = event.pointerType === "touch" ? "" : (event.target.closest("button")?.value ?? ""); };
    document.addEventListener("pointermove", ({ target, clientX, clientY }) => {
      $("carried").hidden = !carried || $("kinds").contains(target);
      if ($("carried").hidden) return;
      $("carried").src = `thumb/${encodeURIComponent(carried)}.png`;
      $("carried").style.translate = `${clientX - 72}px ${clientY - 60}px`;
    });
    document.addEventListener("pointerup", (event) => {
      const surface = surfaces[event.target.closest("#stage, #map")?.id], spot = carried && surface?.lands(...point(surface.svg, event));
      if (spot) add(carried, spot);
      carried = "";
      $("carried").hidden = true;
    });
  }

  // ---------------------------------------------------------------- keys and buttons

  const actions = {
    street, go, remove, theme, boxes: mark, names: mark, masks: overlay, depth: overlay,
    empty: () => act("empty"), undo: () => act("undo"), redo: () => act("redo"), left: () => turn(1), right: () => turn(-1),
    camera: (button) => act("camera", { preset: button.dataset.camera }),
    program: () => $("program").showModal(), help: () => $("keys").showModal(),
    copy: (button) => copy(reply.python, button), link: (button) => copy(location.href, button),
  };
  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

  /** A key does what the button or field does that names it. */
  function keys(event) {
    if (document.querySelector("dialog[open]")) return;
    const { target, key, shiftKey } = event, typing = target.matches("input[type=search], #question, input[type=number], select, pre");
    if (key === "Escape") { if (typing) $("stage").focus(); else choose(null); return; }
    if (typing || event.altKey) return;
    const control = event.ctrlKey || event.metaKey, name = (control ? "Control+" : "") + (shiftKey && /^[a-z]$/i.test(key) ? "Shift+" : "") + (key.length > 1 ? key : key.toUpperCase());
    const named = [...document.querySelectorAll("[aria-keyshortcuts]")].find((e) => e.getAttribute("aria-keyshortcuts").split(" ").includes(name));
    const arrow = !control && !target.matches("input, summary") && ARROWS[key], step = shiftKey ? 1 : 0.25;
    const others = { "[": () => next(-1), "]": () => next(1), P: paints, "+": () => fly(0, 0, 1.1, keyed()), "-": () => fly(0, 0, 1 / 1.1, keyed()) };
    if (target === $("stage")) others[" "] = go;
    if (arrow && state.chosen) act("move", { thing: state.chosen, dx: step * arrow[0], dy: step * arrow[1] }, keyed());
    else if (arrow) fly(2 * step * arrow[0], 2 * step * arrow[1], 1, keyed());
    else if (name in others) others[name]();
    else if (named?.matches("input")) {
      if (named === $("question")) $("tab-ask").click();
      named.focus();
    } else if (named?.offsetParent) named.click();
    else return;
    event.preventDefault();
  }

  function startButtons() {
    const { weathers, families, paints: colours } = catalogue, form = $("settings"), options = (words) => Object.entries(words).map(([value, text]) => element("option", { value }, text));
    form.elements.weathers.append(...options({ "": "any" }), ...options(Object.fromEntries(weathers.map((kind) => [kind, kind]))));
    form.elements.questions.append(...options(Object.fromEntries(["paper", "all", ...families].map((family) => [family, family]))));
    form.onchange = drawExamples;
    form.onsubmit = (event) => { event.preventDefault(); form.elements.seed.value++; drawExamples(); };
    $("ask").onsubmit = (event) => { event.preventDefault(); ask($("question").value); };
    $("tab-examples").onchange = () => { if (!$("drawn").children.length) drawExamples(); };
    $("open").onchange = async () => {
      const file = $("open").files[0];
      if (file) act("load", { town: await file.text() });
      $("open").value = "";
    };
    for (const kind of weathers) {
      const radio = element("input", { type: "radio", name: "weather", value: kind });
      $("weathers").append(element("label", { title: kind }, radio, element("span", { "aria-hidden": "true" }, SKIES[kind] ?? "?"), element("span", { class: "word" }, kind)));
    }
    const weather = (given, moving) => act("weather", { kind: document.querySelector("#weathers :checked").value, ...given }, { moving, gesture });
    $("weathers").onchange = () => { gesture++; weather({}, false); };
    $("intensity").onpointerdown = $("hour").onpointerdown = () => { gesture++; };
    $("intensity").oninput = () => weather({ intensity: Number($("intensity").value) }, true);
    $("second").oninput = () => { state.going = false; act("second", { second: Number($("second").value) }, { moving: true, gesture }); };
    $("speed").onchange = () => act("drive", { thing: state.chosen, speed: Number($("speed").value) });
    $("hour").oninput = () => {
      const share = ($("hour").value - 6) / 12;
      act("light", { azimuth: -Math.PI * share, elevation: Math.max(0.08, 1.1 * Math.sin(Math.PI * share)) }, { moving: true, gesture });
    };
    for (const [paint, rgb] of Object.entries({ "": "", ...colours })) {
      const swatch = element("button", { type: "button", class: "swatch", value: paint, "aria-label": `Paint ${paint || "its own"}`, title: paint || "its own" });
      swatch.style.background = rgb;
      $("paints").append(swatch);
    }
    $("paints").onclick = ({ target }) => { if (target.matches(".swatch")) act("change", { thing: state.chosen, paint: target.value || null }); };
    for (const [group, words] of Object.entries(GROUPS)) $("groups").append(element("button", { type: "button", value: group }, words));
    $("groups").onclick = ({ target }) => { state.group = target.value ?? state.group; $("search").value = ""; drawShelf(); };
    $("search").oninput = drawShelf;
    document.addEventListener("keydown", keys);
    document.addEventListener("click", ({ target }) => {
      const button = target.closest("[data-do]");
      if (button) actions[button.dataset.do](button);
      for (const menu of document.querySelectorAll("details[open]")) if (!menu.contains(target)) menu.open = false;
    });
  }

  async function begin() {
    catalogue = await (await fetch("catalogue")).json();
    startButtons();
    startPointers();
    drawShelf();
    const link = history.state ? "" : location.hash.slice(1); // after a reload the town is as the server has it
    await (link ? act("link", { link }) : look());
    window.onfocus = () => { if (!busy) look(); }; // a program may have changed the town
    new ResizeObserver(() => { if (town && !busy) settle(); }).observe($("stage"));
    document.documentElement.dataset.ready = "1";
  }

  begin().catch(lost);
})();
