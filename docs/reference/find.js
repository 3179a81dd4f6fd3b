// Finds the codes whose messages are most like a pasted line; the page find.md shows them, tests call `find`.
// What every error has is left out: a logger's brackets, the number and name of the class; not the place in the source.
const COMMON =
  /\[(?![^\]]*::)[^\]\s]*\]|\[(?![^\]]*::)[^\]]*\d{4}[^\]]*\]|Error Code \d+:?|\b(?:Internal|API Usage) Error\b|Error\[\d+\]:?/gi;

// What wraps the sentence of an error, or the condition of a check.
const WRAPS = /^.*?(?:Parameter check failed,(?: at: [^ ,]+,)?(?: condition:)?|(?:Assertion|Validation) failed:)|\[[^\]]*\]/;
// The share of a message that a line has which that message is about, and the weight of words that say something.
const [KNOWN, TELLING] = [0.8, 10];

// The words of a text and of its joined names (OutOfMemory), and pairs of neighbours, which say more.
const words = (text) => {
  const plain = text.replace(COMMON, " ").trim() || text;
  const apart = plain.replace(/([a-z])(?=[A-Z])/g, "$1 ");
  const all = (apart === plain ? [plain] : [plain, apart]).flatMap((form) => {
    const single = form.toLowerCase().match(/[a-z_]{2,}|[0-9]+/g) || [];
    return [...single, ...single.slice(1).map((word, place) => `${single[place]} ${word}`)];
  });
  return new Set(all);
};

// Whether a message stands in a line: `<field>` and `…` are any text.
const stands = (parts, line) => {
  let end = 0;
  return parts.every((part) => {
    const place = line.indexOf(part, end);
    end = place + part.length;
    return place >= 0;
  });
};

const index = (codes, classes = []) => {
  const documents = codes.map(([code, title, messages, sentences]) => ({
    code,
    title,
    texts: [[4, title], ...messages.map((text) => [5, text]), ...sentences.map((text) => [1, text])].map(
      ([worth, text]) => ({ worth, text, words: words(text), parts: text.split(/<[^<>]*>|…/) }),
    ),
  }));
  const held = new Map();
  for (const { texts } of documents) {
    for (const word of new Set(texts.flatMap((text) => [...text.words]))) held.set(word, (held.get(word) || 0) + 1);
  }
  const rarity = (word) => Math.log(1 + documents.length / (1 + (held.get(word) || 0)));
  for (const { texts } of documents) {
    for (const text of texts) text.whole = [...text.words].reduce((sum, word) => sum + rarity(word), 0) || 1;
  }
  const of = classes.map(([code, title, shows]) => ({ code, title, shows: shows.map((each) => new RegExp(...each)) }));
  return { documents, rarity, classes: of };
};

// The line as a message has it, without what stands before it.
const bare = (text) => text.replace(COMMON, " ").replace(/\s+/g, " ").trim();

// A text counts by what it shares with the query, and by how much of the text that is; a message that stands in the
// query counts most. Codes that read one message stand together below it, so that they leave room for other messages.
// Where no message is the line's, the class of errors that its words show is among the first.
const find = ({ documents, rarity, classes }, query, most = 10) => {
  const asked = [...words(query)];
  const line = bare(query);
  let known = 0;
  const scored = documents.map(({ code, title, texts }) => {
    const scores = texts.map((text) => {
      const shared = asked.reduce((sum, word) => sum + (text.words.has(word) ? rarity(word) : 0), 0);
      const holds = text.worth > 4 && stands(text.parts, query);
      if (text.worth > 4 && text.whole > TELLING) known = Math.max(known, shared / text.whole);
      return { text: text.text, score: ((holds ? 5 : 1) * text.worth * shared * shared) / (text.whole + 4) };
    });
    const best = scores.reduce((a, b) => (b.score > a.score ? b : a));
    const rest = scores.reduce((sum, { score }) => sum + score, 0) - best.score;
    return { code, title, text: best.text, score: best.score + rest / (8 + texts.length) };
  });
  const hits = new Map();
  for (const { code, title, text, score } of scored.sort((a, b) => b.score - a.score)) {
    if (score > 0) hits.set(text, [...(hits.get(text) || []), { code, title }]);
  }
  const found = [...hits].map(([text, codes]) => ({ text, codes }));
  const sentence = line.replace(WRAPS, "").trim();
  const shown = known < KNOWN && classes.find(({ shows }) => shows.some((each) => each.test(sentence)));
  const first = found.slice(0, 2).flatMap(({ codes }) => codes);
  if (shown && !first.some(({ code }) => code === shown.code)) {
    found.splice(2, 0, { text: shown.title, codes: [{ code: shown.code, title: shown.title }] });
  }
  return found.slice(0, most);
};

if (typeof document === "undefined") {
  module.exports = { index, find };
} else {
  const all = index(CODES, CLASSES);
  const field = document.getElementById("find");
  const list = document.getElementById("found");
  field.addEventListener("input", () => {
    list.replaceChildren(
      ...find(all, field.value).map(({ text, codes }) => {
        const [item, quote] = ["li", "code"].map((name) => document.createElement(name));
        for (const { code, title } of codes) {
          const link = document.createElement("a");
          link.href = `findings/${code.toLowerCase()}.html`;
          link.textContent = `${code}: ${title}`;
          item.append(link, document.createElement("br"));
        }
        quote.textContent = text;
        if (codes.every(({ title }) => title !== text)) item.append(quote);
        return item;
      }),
    );
  });
}
