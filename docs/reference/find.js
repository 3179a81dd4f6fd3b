// Finds the codes whose messages are most like a pasted line; the page find.md shows them, tests call `find`.
// What every error has is left out: a logger's brackets, the number and name of the class.
const COMMON = /\[[^\]\s]*\]|\[[^\]]*\d{4}[^\]]*\]|Error Code \d+:?|\b(?:Internal|API Usage) Error\b|Error\[\d+\]:?/gi;

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

const index = (codes) => {
  const documents = codes.map(([code, title, messages, sentences]) => ({
    code,
    title,
    texts: [[4, title], ...messages.map((text) => [5, text]), ...sentences.map((text) => [1, text])].map(
      ([worth, text]) => ({ worth, text, words: words(text) }),
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
  return { documents, rarity };
};

// A text counts by what it shares with the query, and by how much of the text that is. Codes that read one message stand
// together below it, so that they leave room for other messages.
const find = ({ documents, rarity }, query, most = 10) => {
  const asked = [...words(query)];
  const scored = documents.map(({ code, title, texts }) => {
    const scores = texts.map((text) => {
      const shared = asked.reduce((sum, word) => sum + (text.words.has(word) ? rarity(word) : 0), 0);
      return { text: text.text, score: (text.worth * shared * shared) / (text.whole + 4) };
    });
    const best = scores.reduce((a, b) => (b.score > a.score ? b : a));
    const rest = scores.reduce((sum, { score }) => sum + score, 0) - best.score;
    return { code, title, text: best.text, score: best.score + rest / (8 + texts.length) };
  });
  const hits = new Map();
  for (const { code, title, text, score } of scored.sort((a, b) => b.score - a.score)) {
    if (score > 0) hits.set(text, [...(hits.get(text) || []), { code, title }]);
  }
  return [...hits].slice(0, most).map(([text, codes]) => ({ text, codes }));
};

if (typeof document === "undefined") {
  module.exports = { index, find };
} else {
  const all = index(CODES);
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
          quote.textContent = text === title ? "" : text;
        }
        item.append(quote);
        return item;
      }),
    );
  });
}
