"use strict";

// `survey` stands above: the seal of the data set, the split, and for each question its key, words, answers and picture.
(() => {
  const $ = (id) => document.getElementById(id);
  const BUTTONS = 10, UNSURE = "cannot tell";
  const { questions } = survey, place = `${survey.data} ${survey.split}`;
  let person = localStorage.getItem(place), answers = [], keys = new Map(), since = 0;

  const stored = () => `${place} ${person}`;
  const isTyped = (it) => it.metres || it.choices.length > BUTTONS;

  /** The key of each answer: its digit, or its first letter; or its place, if two answers have one letter. */
  function keysOf(choices) {
    const first = choices.map((choice) => choice[0].toLowerCase());
    return new Set(first).size === first.length ? first : choices.map((_, number) => String((number + 1) % 10));
  }

  function show() {
    const isOver = answers.length === questions.length;
    $("hello").hidden = true;
    $("trial").hidden = isOver;
    $("thanks").hidden = !isOver;
    keys = new Map();
    // whoever opens the page after the end may be another person
    if (isOver) return localStorage.removeItem(place);
    localStorage.setItem(place, person);
    const it = questions[answers.length];
    $("picture").src = it.picture;
    $("question").textContent = it.question;
    $("count").textContent = `${answers.length + 1} of ${questions.length}`;
    $("bar").max = questions.length;
    $("bar").value = answers.length;
    $("back").disabled = !answers.length;
    $("typed").hidden = !isTyped(it);
    $("buttons").replaceChildren();
    if (isTyped(it)) showField(it);
    else showButtons(it.choices);
    window.scrollTo(0, 0);
    since = performance.now();
  }

  function showButtons(choices) {
    const own = keysOf(choices);
    choices.forEach((choice, number) => {
      const button = document.createElement("button"), key = document.createElement("kbd");
      key.textContent = own[number];
      button.append(key, ` ${choice}`);
      button.addEventListener("click", () => answer(choice));
      $("buttons").append(button);
      keys.set(own[number], choice);
    });
    document.activeElement?.blur();
  }

  function showField(it) {
    const field = $("answer");
    Object.assign(field, { type: it.metres ? "number" : "text", min: "0", max: "9999", step: "0.1", value: "" });
    $("unit").hidden = !it.metres;
    $("unsure").hidden = !it.choices.includes(UNSURE);
    $("answers").replaceChildren(...(it.metres ? [] : it.choices.map((choice) => new Option(choice))));
    field.placeholder = it.metres ? "" : `such as ${it.choices[0]}`;
    field.setCustomValidity("");
    field.focus();
  }

  function answer(text) {
    const seconds = ((performance.now() - since) / 1000).toFixed(2);
    answers.push([survey.data, questions[answers.length].key, text, seconds]);
    keep();
  }

  function keep() {
    localStorage.setItem(stored(), JSON.stringify(answers));
    show();
  }

  function back() {
    if (!answers.length) return;
    answers.pop();
    keep();
  }

  function begin() {
    answers = JSON.parse(localStorage.getItem(stored()) ?? "[]");
    show();
  }

  $("total").textContent = questions.length;
  $("hello").addEventListener("submit", (event) => {
    event.preventDefault();
    person = $("person").value;
    begin();
  });
  $("typed").addEventListener("submit", (event) => {
    event.preventDefault();
    const it = questions[answers.length], text = $("answer").value.trim().toLowerCase();
    const choice = it.metres ? `${Number(text)} m` : it.choices.find((one) => one.toLowerCase() === text);
    if (choice) return answer(choice);
    $("answer").setCustomValidity("Choose one of the list.");
    $("answer").reportValidity();
  });
  $("answer").addEventListener("input", () => $("answer").setCustomValidity(""));
  $("unsure").addEventListener("click", () => answer(UNSURE));
  $("back").addEventListener("click", back);
  $("again").addEventListener("click", back);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.target.tagName === "INPUT" || !person) return;
    const choice = keys.get(event.key.toLowerCase());
    if (choice === undefined && event.key !== "Backspace") return;
    event.preventDefault();
    if (choice === undefined) back();
    else answer(choice);
  });
  $("download").addEventListener("click", () => {
    const csv = [survey.head, ...answers].map((row) => `${row.join(",")}\n`).join("");
    $("download").href = URL.createObjectURL(new Blob([csv], { type: "text/csv" }));
    $("download").download = `${person}.csv`;
  });
  if (person) begin();
})();
