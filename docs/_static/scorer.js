// Pages of internals come below all others in the search.
var Scorer = {  // var: searchtools.js declares it too
  score: ([page, title, anchor, description, score]) =>
    page.startsWith("reference/internals/") ? score - 1000 : score,
  objNameMatch: 11, objPartialMatch: 6, objPrio: {0: 15, 1: 5, 2: -5}, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
