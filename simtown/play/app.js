"use strict";
// The page of `simtown play`: it sends verbs, one at a time, and shows the picture, the town and the answers that come back.

(() => {
  const $ = (id) => document.getElementById(id);
  const WIDE = 1600, HIGH = 900; // the units of places in the picture
  const SKIES = { clear: "☀", cloudy: "☁", rain: "☂", fog: "≋", snow: "❄", dusk: "◓", night: "☾" };
  const GROUPS = { vehicle: "Vehicles", person: "People", furniture: "Street", tree: "Trees", building: "Houses", cloud: "Clouds" };
  const state = { chosen: null, hover: null, pinned: null, boxes: false, names: false, overlay: "", going: false, group: "vehicle" };
  let catalogue, town, answers = [], ids = null, reply = null, ghost = null, drag = null;
  let gesture = Date.now(), lastKey = 0, quick = true; // whether pictures come fast enough to be large while something is dragged

  // ---------------------------------------------------------------- asking the server

  const queue = [];
  let busy = false, settling = 0, unsaid = false; // something moved, and a screen reader has not been told where to

  /** Send a verb; of the places of one drag, only the newest waits. */
  function act(verb, given = {}, more = {}) {
    clearTimeout(settling);
    const request = { path: "do", verb, given, ...more }, last = queue.at(-1);
    if (verb === "change" && last?.moving && request.moving && last.gesture === request.gesture) queue.pop();
    queue.push(request);
    return pump();
  }

  async function pump() {
    if (busy) return;
    busy = true;
    while (queue.length) {
      const { path, ...request } = queue.shift(), began = performance.now();
      try {
        const response = await fetch(path, { method: "POST", body: JSON.stringify({ size: size(request.moving), overlay: state.overlay, ...request }) });
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
    const across = moving ? (quick ? Math.min(wide, 832) : Math.min(wide, 832) / 2) : Math.max(sharp, 640);
    return [2 * Math.round(across / 2), 2 * Math.round((across * HIGH) / WIDE / 2)];
  }

  /** The server has gone: what is seen stays, and the page waits for it. */
  function lost(error) {
    queue.length = 0;
    stop();
    $("banner").hidden = false;
    $("banner").textContent = error.message && !(error instanceof TypeError) ? `This did not work: ${error.message}`
      : "simtown play has stopped, so the street stands still. Start it again; Python and the link to this street are still here.";
    setTimeout(() => { if (!$("banner").hidden && !busy) look(); }, 3000);
  }

  async function accept(given, request) {
    const before = new Map(answers.map((a) => [a.question, a]));
    reply = { ...reply, ...given };
    town = given.town;
    answers = given.answers;
    const picture = $("picture");
    picture.src = given.picture;
    await picture.decode().catch(() => {});
    if (!given.ids) ids = null;
    else ids = await pixels(given.ids);
    if (state.chosen && !thing(state.chosen)) state.chosen = null;
    ghost = null;
    if (given.error) refuse(given, request);
    else if (request.path === "ask" || request.question) $("instead").hidden = true;
    if (!request.moving) {
      try { history.replaceState(null, "", `#${given.link}`); sessionStorage.setItem("link", given.link); } catch { /* nothing is kept here */ }
      announce(request);
    }
    draw(before);
    if (request.moving && !drag && !state.going) settle(120, true);
    request.after?.(given);
  }

  /** What the town cannot do: a ghost where something does not fit, words for everything else. */
  function refuse(given, request) {
    const { thing: name, x, y } = request.given ?? {}, moved = thing(name);
    if (moved && request.verb === "change" && x !== undefined) ghost = { thing: moved, x, y: y ?? moved.y, why: given.error };
    if (given.instead) {
      $("instead").replaceChildren(element("p", {}, given.error), ...given.instead.map((q) => element("button", { type: "button", onclick: () => ask(q) }, q)));
      $("instead").hidden = false;
    } else if (!ghost || !request.moving) tip(given.error);
  }

  let tipping = 0;
  function tip(words) {
    $("tip").textContent = words;
    $("tip").hidden = false;
    say(words);
    clearTimeout(tipping);
    tipping = setTimeout(() => { $("tip").hidden = true; }, 6000);
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

  async function pixels(url) {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height), pen = canvas.getContext("2d", { willReadFrequently: true });
    pen.drawImage(image, 0, 0);
    const rgba = pen.getImageData(0, 0, image.width, image.height).data, out = new Uint8Array(rgba.length / 4);
    for (let i = 0; i < out.length; i++) out[i] = rgba[4 * i];
    return { width: image.width, height: image.height, data: out };
  }

  // ---------------------------------------------------------------- geometry

  const thing = (name) => town.things.find((t) => t.name === name);
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
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

  /** The thing in a place of the picture; a finger may miss a small one by a little. */
  function pick([px, py], touch) {
    if (!ids) return null;
    const x = Math.floor((px / WIDE) * ids.width), y = Math.floor((py / HIGH) * ids.height);
    const at = (i, j) => (i < 0 || j < 0 || i >= ids.width || j >= ids.height ? 0 : ids.data[j * ids.width + i]);
    const named = (id) => town.things.find((t) => t.id === id), small = (t) => t && !["building", "tree", "cloud"].includes(t.group);
    const here = named(at(x, y));
    if (!touch || small(here)) return here;
    const reach = Math.round((22 * ids.width) / $("stage").clientWidth);
    for (let r = 3; r <= reach; r += 3) for (let k = 0; k < 24; k++) {
      const near = named(at(Math.round(x + r * Math.cos((k * Math.PI) / 12)), Math.round(y + r * Math.sin((k * Math.PI) / 12))));
      if (small(near)) return near;
    }
    return here;
  }

  /** The corners of the ground where it is too close to say whether a relation holds; null if it has no such strip. */
  function band({ relation, names, band: most }) {
    const object = thing(names[1]), [cx, cy, yaw, pitch, height] = town.camera;
    if (!object) return null;
    const along = (ux, uy) => [[-most, -40], [most, -40], [most, 40], [-most, 40]].map(([a, b]) => [object.x + a * ux - b * uy, object.y + a * uy + b * ux]);
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
      else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children);
    return made;
  }

  const escape = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
  const points = (corners) => corners.map((p) => p.map((v) => v.toFixed(2)).join(",")).join(" ");

  function draw(before = new Map()) {
    $("picture").alt = reply.describe ?? "";
    drawMarks();
    drawGlow();
    drawMap();
    drawLog(before);
    drawChosen();
    drawSky();
    if (reply.offers) {
      $("offers").replaceChildren(...reply.offers.map((q) => element("button", { type: "button", onclick: () => ask(q) }, q)));
    }
    $("go").hidden = $("film").hidden = !town.moves;
    $("undo").disabled = !town.undo;
    $("redo").disabled = !town.redo;
    $("python").textContent = reply.python ?? "";
    for (const key of ["boxes", "names"]) $(key).setAttribute("aria-pressed", state[key]);
    for (const key of ["masks", "depth"]) $(key).setAttribute("aria-pressed", state.overlay === key);
    $("go").setAttribute("aria-pressed", state.going);
    $("go").textContent = state.going ? "❚❚ Stop" : "▶ Go";
  }

  /** A prism over a thing's outline, where it would stand. */
  function prism(t, x, y) {
    const low = t.outline.map(([a, b]) => project(a - t.x + x, b - t.y + y, t.z)), high = t.outline.map(([a, b]) => project(a - t.x + x, b - t.y + y, t.high));
    if (![...low, ...high].every(Boolean)) return "";
    const sides = low.map((p, i) => `M${p}L${high[i]}`).join("");
    return `<g class="ghost"><polygon points="${points(low)}"/><polygon points="${points(high)}"/><path d="${sides}"/></g>`;
  }

  function drawMarks() {
    const parts = [], about = focus();
    const strip = about && band(about)?.map(([x, y]) => project(x, y, 0));
    if (strip?.every(Boolean) && !state.overlay) parts.push(`<polygon class="band" points="${points(strip)}"/>`);
    const labels = [], shown = town.things.filter((t) => t.box && t.group !== "cloud");
    for (const t of shown.sort((a, b) => (b.group === "vehicle") - (a.group === "vehicle"))) {
      const [x0, y0, x1, y1] = [t.box[0] * WIDE, t.box[1] * HIGH, t.box[2] * WIDE, t.box[3] * HIGH], role = ["subject", "object"][about?.names.indexOf(t.name)];
      if (state.boxes || (t.name === state.chosen && !ids)) parts.push(`<rect class="box ${role ?? t.group}" x="${x0}" y="${y0}" width="${x1 - x0}" height="${y1 - y0}"/>`);
      const label = { x: (x0 + x1) / 2, y: Math.max(y0 - 8, 26), wide: 7.6 * t.name.length };
      if (!state.names || labels.some((l) => Math.abs(l.y - label.y) < 28 && Math.abs(l.x - label.x) < l.wide + label.wide)) continue;
      labels.push(label);
      parts.push(`<text class="name" x="${label.x}" y="${label.y}">${escape(t.name)}</text>`);
    }
    if (ghost) parts.push(prism(ghost.thing, ghost.x, ghost.y));
    $("marks").innerHTML = parts.join("");
    if (ghost) {
      $("tip").textContent = ghost.why;
      $("tip").hidden = false;
      clearTimeout(tipping);
      tipping = setTimeout(() => { $("tip").hidden = true; }, 3000);
    } else if (drag?.moved) $("tip").hidden = true;
  }

  /** A line around the pixels of the thing under the pointer and of the chosen one. */
  function drawGlow() {
    const canvas = $("glow"), pen = canvas.getContext("2d");
    if (!ids) { canvas.width = 1; return; }
    const { width, height, data } = ids;
    canvas.width = width;
    canvas.height = height;
    const colours = new Map();
    for (const [name, rgb] of [[state.hover, [255, 255, 255]], [state.chosen, [255, 196, 0]]]) {
      const t = name && thing(name);
      if (t) colours.set(t.id, rgb);
    }
    if (!colours.size) return;
    const image = pen.createImageData(width, height), out = image.data, thick = Math.max(1, Math.round(width / 640));
    for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) {
      const i = y * width + x, rgb = colours.get(data[i]);
      if (!rgb) continue;
      const left = x < thick ? 0 : data[i - thick], right = x + thick >= width ? 0 : data[i + thick];
      const above = y < thick ? 0 : data[i - thick * width], below = y + thick >= height ? 0 : data[i + thick * width];
      if (left !== data[i] || right !== data[i] || above !== data[i] || below !== data[i]) out.set([...rgb, 255], 4 * i);
    }
    pen.putImageData(image, 0, 0);
  }

  const LOW = -6, TOP = 7.4; // of the map, metres across the road
  const half = () => Math.max(11, Math.min(24, $("map").clientWidth / 36));

  function drawMap() {
    const h = half(), about = focus(), at = (y) => -y, parts = [];
    const strip = (y0, y1, name) => `<rect class="${name}" x="${-h}" y="${at(y1)}" width="${2 * h}" height="${y1 - y0}"/>`;
    parts.push(strip(LOW, TOP, "lawn"), strip(3.7, 6.6, "pavement"), strip(-5.8, 3.7, "road"), `<path class="lane" d="M${-h} 0H${h}"/>`);
    const [cx, cy, yaw] = town.camera, reach = WIDE / 2 / camera().focal;
    const edge = (s) => [cx + 40 * (-Math.sin(yaw) + s * reach * Math.cos(yaw)), cy + 40 * (Math.cos(yaw) + s * reach * Math.sin(yaw))];
    parts.push(`<path class="view" d="M${cx} ${at(cy)}L${edge(-1)[0]} ${at(edge(-1)[1])}M${cx} ${at(cy)}L${edge(1)[0]} ${at(edge(1)[1])}"/>`);
    const corners = about && band(about);
    if (corners) parts.push(`<polygon class="band" points="${points(corners.map(([x, y]) => [x, at(y)]))}"/>`);
    const shape = (t, dx, dy, more) => `<polygon class="${t.group} ${more}" points="${points(t.outline.map(([x, y]) => [x + dx, at(y + dy)]))}"/>`;
    for (const t of [...town.things].sort((a, b) => a.high - b.high)) {
      if (t.group === "cloud") continue;
      const role = ["subject", "object"][about?.names.indexOf(t.name)] ?? "";
      const nose = [t.x + Math.cos(t.front) * 0.5, at(t.y + Math.sin(t.front) * 0.5)];
      parts.push(`<g data-name="${escape(t.name)}" class="${t.name === state.chosen ? "chosen" : ""}"><title>${escape(t.name)}</title>${shape(t, 0, 0, role)}${
        t.group === "vehicle" ? `<path class="nose" d="M${t.x} ${at(t.y)}L${nose}"/>` : ""}</g>`);
    }
    const labels = [];
    for (const t of town.things.filter((v) => v.group === "vehicle").sort((a, b) => a.x - b.x)) {
      const label = { x: t.x, y: at(t.y) - 1.2, wide: 0.25 * t.name.length + 0.2 };
      while (labels.some((l) => Math.abs(l.y - label.y) < 0.85 && Math.abs(l.x - label.x) < l.wide + label.wide)) label.y -= 0.9;
      labels.push(label);
      parts.push(`<text x="${label.x}" y="${label.y}">${escape(t.name)}</text>`);
    }
    if (ghost) parts.push(shape(ghost.thing, ghost.x - ghost.thing.x, ghost.y - ghost.thing.y, "ghost"));
    if (about) {
      const [s, o] = about.names.map(thing), metres = about.margin === null ? "" : `${Math.abs(about.margin).toFixed(2)} m`;
      parts.push(`<path class="ruler" d="M${s.x} ${at(s.y)}L${o.x} ${at(o.y)}"/>`);
      parts.push(`<text class="metres ${about.verdict}" x="${(s.x + o.x) / 2}" y="${at(Math.min(s.y, o.y)) + 2.2}">${metres}</text>`);
    }
    $("map").setAttribute("viewBox", `${-h} ${at(TOP)} ${2 * h} ${TOP - LOW}`);
    $("map").innerHTML = parts.join("");
  }

  const lines = new Map(); // the log's lines by question; they stay, so that a dot slides
  function drawLog(before) {
    const log = $("log");
    for (const [question, line] of lines) if (!answers.some((a) => a.question === question)) { line.root.remove(); lines.delete(question); }
    answers.forEach((a, i) => {
      const line = lines.get(a.question) ?? makeLine(a.question);
      if (log.children[i] !== line.root) log.insertBefore(line.root, log.children[i] ?? null);
      line.root.className = `${a.verdict} ${a === focus() ? "focused" : ""}`;
      const old = before.get(a.question);
      if (old && old.text !== a.text) line.verdict.animate?.([{ transform: "scale(1.25)" }, { transform: "none" }], 250);
      line.verdict.textContent = { close: "too close to say", none: "no answer" }[a.verdict] ?? a.text ?? "";
      line.bar.hidden = a.band === undefined || a.margin === null;
      if (!line.bar.hidden) {
        const far = Math.max(8, a.band * 4), share = (m) => `${50 + 50 * Math.max(-1, Math.min(1, m / far))}%`;
        Object.assign(line.band.style, { left: share(-a.band), right: `calc(100% - ${share(a.band)})` });
        line.dot.style.left = share(a.margin);
        line.bar.setAttribute("aria-label", `Holds by ${a.margin.toFixed(2)} m; up to ${a.band} m is too close to say`);
        line.ends[0].textContent = `−${far} m`;
        line.ends[1].textContent = `${far} m`;
      }
      line.why.textContent = a.why;
      const m = a.model;
      line.model.hidden = !m;
      if (m) line.model.replaceChildren(element("b", {}, town.run), ` ${m.text} `, m.right === null ? "" : element("span", { class: m.right ? "right" : "wrong" }, m.right ? "✓ right" : "✗ wrong"));
    });
  }

  function makeLine(question) {
    const line = { verdict: element("b", { class: "verdict" }), why: element("p", { class: "why" }), model: element("p", { class: "model" }) };
    line.band = element("i", { class: "close" });
    line.dot = element("i", { class: "dot" });
    line.ends = [element("small"), element("small")];
    line.bar = element("div", { class: "track", role: "img" }, line.band, line.dot, ...line.ends);
    const pin = () => { state.pinned = question; draw(); };
    const forget = element("button", { type: "button", class: "forget", "aria-label": `Forget: ${question}`, onclick: () => act("forget", { question }) }, "×");
    line.root = element("li", {}, element("button", { type: "button", class: "ask", onclick: pin }, question), line.verdict, forget, line.bar, line.why, line.model);
    lines.set(question, line);
    return line;
  }

  let drawnFor = "";
  function drawChosen() {
    const t = thing(state.chosen), host = $("chosen"), key = t ? `${t.name} ${t.paintable}` : "";
    if (key !== drawnFor || !host.children.length) {
      drawnFor = key;
      host.replaceChildren();
      if (!t) host.append(element("p", {}, "Drag anything, in the street or on the map. A tap selects it: turn it, paint it, remove it."));
      else {
        const button = (words, title, action) => element("button", { type: "button", title, onclick: action }, words);
        host.append(element("b", {}, t.name), element("output", { id: "where" }), button("⟲ Turn", "Turn left (Shift R)", () => turn(1)), button("⟳ Turn", "Turn right (R)", () => turn(-1)));
        if (t.paintable) {
          const swatches = element("div", { id: "paints", role: "group", "aria-label": "Paint" });
          for (const [name, rgb] of [["its own", null], ...Object.entries(catalogue.paints)]) {
            const swatch = element("button", { type: "button", class: `swatch ${rgb ? "" : "own"}`, "aria-label": `Paint ${name}`, title: name, onclick: () => paint(rgb && name) });
            if (rgb) swatch.style.background = rgb;
            swatches.append(swatch);
          }
          host.append(element("details", { class: "menu", id: "painting" }, element("summary", { title: "Paint (P)" }, "Paint"), swatches));
        }
        host.append(button("Remove", "Remove (Delete)", remove));
      }
    }
    if (!t) return;
    $("where").textContent = `x ${t.x.toFixed(2)}, y ${t.y.toFixed(2)} m${t.box ? "" : ", not in view"}`;
    for (const swatch of host.querySelectorAll(".swatch")) swatch.setAttribute("aria-pressed", swatch.title === (t.paint ?? "its own"));
  }

  function drawSky() {
    const { kind, intensity } = town.weather, [azimuth] = town.light;
    const radio = document.querySelector(`#weathers [value="${kind}"]`);
    if (radio) radio.checked = true;
    if (document.activeElement !== $("intensity")) $("intensity").value = intensity;
    if (document.activeElement !== $("hour")) $("hour").value = 6 + (12 * Math.abs(Math.atan2(Math.sin(azimuth), Math.cos(azimuth)))) / Math.PI;
    $("clock").textContent = `${Math.floor($("hour").value)}:${String(Math.floor(($("hour").value % 1) * 60)).padStart(2, "0")}`;
  }

  function drawShelf() {
    const typed = $("search").value.trim().toLowerCase(), kinds = catalogue.kinds;
    for (const button of $("groups").children) button.setAttribute("aria-pressed", !typed && button.dataset.group === state.group);
    const listed = typed ? Object.values(kinds).flat().filter((kind) => kind.toLowerCase().includes(typed)) : kinds[state.group];
    $("kinds").replaceChildren(...listed.map((kind) => {
      const image = element("img", { src: `thumb/${encodeURIComponent(kind)}.png`, alt: "", loading: "lazy", width: 144, height: 96, draggable: "false" });
      return element("button", { type: "button", "data-kind": kind, title: `Add: ${kind}` }, image, kind);
    }));
    if (!listed.length) $("kinds").append(element("p", {}, `Nothing is called “${typed}”.`));
  }

  // ---------------------------------------------------------------- verbs

  function choose(name, spoken = true) {
    state.chosen = name;
    draw();
    if (spoken && name) say(place(thing(name)));
  }

  function ask(question) {
    const words = question.trim();
    if (!words) return;
    queue.push({ path: "ask", question: words, after: (given) => { if (!given.error) { $("question").value = ""; state.pinned = null; draw(); say(`${words} ${answers[0]?.text ?? ""}: ${answers[0]?.why ?? ""}`); } } });
    pump();
  }

  const now = () => { const t = Date.now(); gesture = t - lastKey > 800 ? t : gesture; lastKey = t; return gesture; };
  const turn = (way) => state.chosen && act("turn", { thing: state.chosen, by: (way * Math.PI) / 12 }, { gesture: now(), moving: true });
  const paints = () => { if ($("painting")) { $("painting").open = true; document.querySelector(".swatch").focus(); } };
  const paint = (name) => act("change", { thing: state.chosen, paint: name });
  const remove = () => { if (state.chosen) { act("remove", { thing: state.chosen }); state.chosen = null; $("stage").focus({ preventScroll: true }); } };
  const shift = (dx, dy) => act("move", { thing: state.chosen, dx, dy }, { gesture: now(), moving: true });

  function next(way) {
    const order = [...town.things].filter((t) => t.box && t.group !== "cloud");
    const at = order.findIndex((t) => t.name === state.chosen);
    if (order.length) choose(order[(at + way + order.length) % order.length].name);
  }

  function add(kind, spot) {
    const before = new Set(town.things.map((t) => t.name));
    const given = spot ? { kind, x: spot[0], y: spot[1] } : { kind };
    act("place", given, { after: ({ error }) => { const made = town.things.find((t) => !before.has(t.name)); if (!error && made) choose(made.name); } });
  }

  function go() {
    state.going = !state.going;
    if (state.going) act("drive", {}, { moving: true, gesture: ++gesture, after: step });
    else look();
  }
  function step({ error }) {
    if (error) stop();
    if (state.going) act("step", { dt: 0.05 }, { moving: true, gesture, after: step });
    else look();
  }
  const stop = () => { state.going = false; };

  function street() {
    state.chosen = state.pinned = null;
    stop();
    act("street", { seed: Math.floor(Math.random() * 100000) });
  }

  // ---------------------------------------------------------------- examples of a data set

  const chosenSettings = () => {
    const data = new FormData($("settings")), all = { entities: Number(data.get("entities")), seed: Number(data.get("seed")) };
    if (data.get("questions") !== "paper") all.questions = [data.get("questions")];
    if (data.get("weather")) all.weathers = [data.get("weather")];
    if (data.get("depth")) all.relations = ["left of", "right of", "in front of", "behind"];
    for (const key of ["distractor", "twins"]) if (data.get(key)) all[key] = true;
    return all;
  };

  function commandOf({ entities, seed, questions, weathers, relations, distractor, twins }) {
    const words = [`simtown generate --entities ${entities} --n 1000 --seed ${seed}`];
    if (questions) words.push(`--questions ${questions}`);
    if (weathers) words.push(`--weather ${weathers}`);
    if (relations) words.push(`--relations '${relations.join(",")}'`);
    return [...words, distractor ? "--distractor" : [], twins ? "--twins" : []].flat().join(" ");
  }

  async function drawExamples() {
    const settings = chosenSettings(), host = $("drawn");
    host.setAttribute("aria-busy", "true");
    const given = await fetch("draw", { method: "POST", body: JSON.stringify(settings) }).then((r) => (r.ok ? r.json() : r.text().then((error) => ({ error })))).catch(() => ({ error: "simtown play has stopped" }));
    const figure = ({ picture, answer }, about) => element("figure", {}, element("img", { src: picture, alt: `${about}: the answer is ${answer}` }), element("figcaption", { class: answer }, answer));
    const cards = (given.examples ?? []).map((e) => element("li", {}, element("b", {}, e.question), element("div", { class: "pair" }, figure(e, e.question), ...(e.twin ? [figure(e.twin, "Its twin")] : [])), element("p", {}, e.why ?? "")));
    host.replaceChildren(...(given.error ? [element("li", {}, given.error)] : cards));
    host.removeAttribute("aria-busy");
    $("command").textContent = commandOf(settings);
    say(given.error ?? `${cards.length} examples`);
  }

  // ---------------------------------------------------------------- pointers

  const inPicture = (event) => {
    const r = $("stage").getBoundingClientRect();
    return [((event.clientX - r.left) / r.width) * WIDE, ((event.clientY - r.top) / r.height) * HIGH];
  };
  const onMap = (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform($("map").getScreenCTM().inverse());
    return [at.x, -at.y];
  };

  /** Begin a drag of a thing; `spot` gives the place in the town that the pointer means. */
  function grab(event, host, t, spot) {
    drag = { name: t.name, x: event.clientX, y: event.clientY, from: t.y, spot, gesture: ++gesture, moved: false };
    choose(t.name, false);
    host.setPointerCapture(event.pointerId);
  }

  function pull(event) {
    if (!drag.moved && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < 4) return;
    drag.moved = true;
    const at = drag.spot(event), t = thing(drag.name);
    if (!at || !t) return;
    let [x, y] = [Math.max(-60, Math.min(60, at[0])), Math.max(-8, Math.min(90, at[1]))];
    if (event.shiftKey) y = drag.from;
    else if (t.group === "vehicle") y = catalogue.lanes.find((lane) => Math.abs(lane - y) < 0.45) ?? y;
    act("change", { thing: drag.name, x, y }, { moving: true, gesture: drag.gesture });
  }

  function drop() {
    const moved = drag?.moved;
    drag = null;
    if (moved) act("look", {}, { said: true });
  }

  function startPointers() {
    const stage = $("stage"), map = $("map");
    const fixed = (t, touch) => !t || (touch && ["building", "cloud", "tree"].includes(t.group) && t.name !== state.chosen);
    stage.addEventListener("touchstart", (event) => { // a finger on a thing drags it, elsewhere it scrolls the page
      if (!fixed(pick(inPicture(event.touches[0]), true), true)) event.preventDefault();
    }, { passive: false });
    stage.onpointerdown = (event) => {
      if (event.button || !town) return;
      const touch = event.pointerType === "touch", at = inPicture(event), t = pick(at, touch);
      if (fixed(t, touch)) { if (!touch) choose(null); return; }
      const foot = project(t.x, t.y, t.z) ?? at;
      grab(event, stage, t, (e) => { const p = inPicture(e); return ground(p[0] - at[0] + foot[0], p[1] - at[1] + foot[1], t.z); });
    };
    stage.onpointermove = (event) => {
      if (drag) return pull(event);
      const t = town && event.pointerType !== "touch" ? pick(inPicture(event)) : null;
      if (state.hover !== (t?.name ?? null)) { state.hover = t?.name ?? null; stage.title = state.hover ?? ""; drawGlow(); }
      stage.classList.toggle("over", Boolean(t));
    };
    stage.onpointerleave = () => { if (!drag && town) { state.hover = null; drawGlow(); } };
    stage.ondblclick = paints;
    map.onpointerdown = (event) => {
      const t = thing(event.target.closest("[data-name]")?.dataset.name), at = onMap(event);
      if (t) { event.preventDefault(); grab(event, map, t, (e) => { const p = onMap(e); return [p[0] - at[0] + t.x, p[1] - at[1] + t.y]; }); }
    };
    map.onpointermove = (event) => { if (drag) pull(event); };
    for (const host of [stage, map]) host.onpointerup = host.onpointercancel = drop;
    let carried = null;
    $("kinds").onpointerdown = (event) => {
      const button = event.target.closest("[data-kind]");
      if (button && event.pointerType !== "touch") carried = { kind: button.dataset.kind, x: event.clientX, y: event.clientY, image: null };
    };
    document.addEventListener("pointermove", (event) => {
      if (!carried) return;
      if (!carried.image && Math.hypot(event.clientX - carried.x, event.clientY - carried.y) > 6) {
        carried.image = element("img", { class: "carried", alt: "", src: `thumb/${encodeURIComponent(carried.kind)}.png` });
        document.body.append(carried.image);
      }
      if (carried.image) carried.image.style.translate = `${event.clientX - 72}px ${event.clientY - 60}px`;
    });
    document.addEventListener("pointerup", (event) => {
      const { kind, image } = carried ?? {};
      carried = null;
      if (!image) return;
      image.remove();
      const over = document.elementFromPoint(event.clientX, event.clientY), spot = stage.contains(over) ? ground(...inPicture(event)) : map.contains(over) ? onMap(event) : null;
      if (spot) add(kind, spot);
    });
    $("kinds").onclick = (event) => { const button = event.target.closest("[data-kind]"); if (button) add(button.dataset.kind); };
  }

  // ---------------------------------------------------------------- keys and buttons

  function keys(event) {
    if (document.querySelector("dialog[open]")) return;
    const typing = event.target.matches("input[type=search], #question, input[type=number], select, pre"), key = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && key === "z" && !typing) { event.preventDefault(); act(event.shiftKey ? "redo" : "undo"); return; }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") { if (typing) $("stage").focus(); else choose(null); return; }
    if (typing) return;
    const own = event.target.matches("input, [role=tab], summary"), far = event.shiftKey ? 1 : 0.25;
    const arrows = { ArrowLeft: [-far, 0], ArrowRight: [far, 0], ArrowUp: [0, far], ArrowDown: [0, -far] };
    if (event.key in arrows && !own && state.chosen) shift(...arrows[event.key]);
    else if (key === " " && event.target === $("stage")) go();
    else {
      const actions = {
        "[": () => next(-1), "]": () => next(1), r: () => turn(event.shiftKey ? 1 : -1), p: paints, delete: remove, backspace: remove,
        b: () => $("boxes").click(), l: () => $("names").click(), m: () => $("masks").click(), d: () => $("depth").click(), n: street, t: () => $("theme").click(),
        "/": () => { tab("ask"); $("question").focus(); }, a: () => $("search").focus(), "?": () => $("keys").showModal(),
      };
      if (!actions[key]) return;
      actions[key]();
    }
    event.preventDefault();
  }

  function tab(name) {
    for (const other of ["ask", "examples"]) {
      $(`tab-${other}`).setAttribute("aria-selected", other === name);
      $(`tab-${other}`).tabIndex = other === name ? 0 : -1;
      $(`${other}-panel`).hidden = other !== name;
    }
    if (name === "examples" && !$("drawn").children.length) drawExamples();
  }

  async function copy(text, button) {
    try { await navigator.clipboard.writeText(text); say("copied"); } catch { say("copying is not allowed here"); }
    const words = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = words; }, 1500);
  }

  function startTheme() {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    let kept = null;
    try { kept = localStorage.getItem("simtown-theme"); } catch { /* nothing is kept here */ }
    const show = (theme) => { document.documentElement.dataset.theme = theme; };
    show(kept ?? (dark.matches ? "dark" : "light"));
    dark.onchange = () => { if (!kept) show(dark.matches ? "dark" : "light"); };
    $("theme").onclick = () => {
      show(kept = document.documentElement.dataset.theme === "dark" ? "light" : "dark");
      try { localStorage.setItem("simtown-theme", kept); } catch { /* nothing is kept here */ }
    };
  }

  function startButtons() {
    $("new").onclick = street;
    $("empty").onclick = () => act("empty");
    $("undo").onclick = () => act("undo");
    $("redo").onclick = () => act("redo");
    for (const key of ["boxes", "names"]) $(key).onclick = () => { state[key] = !state[key]; draw(); };
    for (const key of ["masks", "depth"]) $(key).onclick = () => { state.overlay = state.overlay === key ? "" : key; look(); };
    for (const button of document.querySelectorAll("[data-camera]")) button.onclick = () => act("camera", { preset: button.dataset.camera });
    $("go").onclick = go;
    $("help").onclick = () => $("keys").showModal();
    $("show-python").onclick = () => $("program").showModal();
    $("copy-python").onclick = () => copy(reply.python, $("copy-python"));
    $("link").onclick = () => copy(location.href, $("link"));
    $("open").onchange = async () => {
      const file = $("open").files[0];
      if (!file) return;
      try { act("load", { town: JSON.parse(await file.text()) }); } catch { tip(`${file.name} is no saved town`); }
      $("open").value = "";
    };
    $("settings").onsubmit = (event) => { event.preventDefault(); $("settings").elements.seed.value = Number($("settings").elements.seed.value) + 1; drawExamples(); };
    $("settings").onchange = drawExamples;
    for (const kind of catalogue.weathers) $("settings").elements.weather.append(element("option", { value: kind }, kind));
    for (const family of ["paper", "all", ...catalogue.families]) $("settings").elements.questions.append(element("option", { value: family }, family));
    $("ask").onsubmit = (event) => { event.preventDefault(); ask($("question").value); };
    for (const name of ["ask", "examples"]) $(`tab-${name}`).onclick = () => tab(name);
    document.querySelector("[role=tablist]").onkeydown = (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      const other = $("ask-panel").hidden ? "ask" : "examples";
      tab(other);
      $(`tab-${other}`).focus();
    };
    const weather = (moving) => act("weather", { kind: document.querySelector("#weathers :checked").value, intensity: Number($("intensity").value) }, { moving, gesture });
    for (const kind of catalogue.weathers) {
      const radio = element("input", { type: "radio", name: "weather", value: kind, onchange: () => { gesture++; weather(false); } });
      $("weathers").append(element("label", { title: kind }, radio, element("span", { "aria-hidden": "true" }, SKIES[kind] ?? "?"), element("span", { class: "word" }, kind)));
    }
    $("intensity").onpointerdown = $("hour").onpointerdown = () => { gesture++; };
    $("intensity").oninput = () => weather(true);
    $("hour").oninput = () => {
      const share = ($("hour").value - 6) / 12;
      act("light", { azimuth: -Math.PI * share, elevation: Math.max(0.08, 1.1 * Math.sin(Math.PI * share)) }, { moving: true, gesture });
    };
    for (const [group, words] of Object.entries(GROUPS)) {
      $("groups").append(element("button", { type: "button", "data-group": group, onclick: () => { state.group = group; $("search").value = ""; drawShelf(); } }, words));
    }
    $("search").oninput = drawShelf;
    document.addEventListener("keydown", keys);
    document.addEventListener("click", (event) => { for (const menu of document.querySelectorAll("details[open]")) if (!menu.contains(event.target)) menu.open = false; });
  }

  async function begin() {
    startTheme();
    catalogue = await (await fetch("catalogue")).json();
    startButtons();
    startPointers();
    drawShelf();
    let link = location.hash.slice(1);
    try { link = link === sessionStorage.getItem("link") ? "" : link; } catch { /* nothing is kept here */ }
    await (link ? act("link", { link }) : look());
    window.onfocus = () => { if (!busy) look(); }; // a program may have changed the town
    new ResizeObserver(() => { if (town && !busy) settle(); }).observe($("stage"));
    document.documentElement.dataset.ready = "1";
  }

  begin().catch(lost);
})();
