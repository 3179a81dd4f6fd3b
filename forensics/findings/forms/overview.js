"use strict";
// Sorts, filters and pages the table of runs. Without this script the page shows all of its rows.
for (const table of document.querySelectorAll("table.runs")) {
  const size = 50;
  const body = table.tBodies[0];
  const every = [...body.rows];
  const texts = new Map(every.map((row) => [row, row.textContent.toLowerCase()]));
  const made = (name, more) => Object.assign(document.createElement(name), more);
  const filter = made("input", { type: "search", placeholder: "Filter: words that a row holds" });
  filter.setAttribute("aria-label", filter.placeholder);
  const back = made("button", { type: "button", textContent: "Back" });
  const on = made("button", { type: "button", textContent: "Next" });
  const place = made("span", {});
  place.setAttribute("role", "status");
  const bar = made("p", { className: "bar" });
  bar.append(filter, back, on, place);
  table.before(bar);
  let rows = every;
  let first = 0;
  const show = (begin) => {
    first = Math.max(0, begin);
    const last = Math.min(first + size, rows.length);
    body.replaceChildren(...rows.slice(first, last));
    place.textContent = rows.length ? `${first + 1} to ${last} of ${rows.length}` : "none";
    back.disabled = first === 0;
    on.disabled = last === rows.length;
  };
  const order = new Intl.Collator("en", { numeric: true });
  const compare = (at, sign) => (one, other) => {
    const [left, right] = [one, other].map((row) => row.cells[at].textContent);
    if (!left || !right) return !left - !right; // what is not known stands last
    const difference = Number(left) - Number(right);
    return sign * (Number.isNaN(difference) ? order.compare(left, right) : difference);
  };
  [...table.tHead.rows[0].cells].forEach((head, at, heads) => {
    const button = made("button", { type: "button", textContent: head.textContent });
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.ariaSort === "ascending";
      heads.forEach((other) => { other.ariaSort = null; });
      head.ariaSort = down ? "descending" : "ascending";
      every.sort(compare(at, down ? -1 : 1));
      choose();
    });
  });
  const choose = () => {
    const words = filter.value.toLowerCase().split(/\s+/);
    rows = every.filter((row) => words.every((word) => texts.get(row).includes(word)));
    show(0);
  };
  filter.addEventListener("input", choose);
  back.addEventListener("click", () => show(first - size));
  on.addEventListener("click", () => show(first + size));
  addEventListener("beforeprint", () => body.replaceChildren(...rows));
  addEventListener("afterprint", () => show(first));
  show(0);
}
