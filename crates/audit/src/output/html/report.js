// Tables that sort and filter. The page is complete without it.
"use strict";
for (const table of document.querySelectorAll("table.data")) {
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const heads = Array.from(table.tHead.rows[0].cells);
  const value = (row, at) => {
    const cell = row.cells[at];
    return "v" in cell.dataset ? Number(cell.dataset.v) : null;
  };
  const compare = (at) => (a, b) => {
    const [x, y] = [value(a, at), value(b, at)];
    if (x !== null && y !== null) return x - y;
    if (x !== null || y !== null) return x === null ? 1 : -1;
    return a.cells[at].textContent.localeCompare(b.cells[at].textContent);
  };
  heads.forEach((head, at) => {
    if (rows.length < 2) return;
    const button = document.createElement("button");
    button.type = "button";
    if (head.textContent === "") button.setAttribute("aria-label", "first column");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const sorted = rows.slice().sort(compare(at));
      if (down) sorted.reverse();
      body.append(...sorted);
    });
  });
  if (rows.length < 8) continue;
  const label = document.createElement("label");
  const input = document.createElement("input");
  const shown = document.createElement("span");
  input.type = "search";
  shown.setAttribute("role", "status");
  label.append("Filter ", input);
  const box = document.createElement("div");
  box.className = "filter";
  box.append(label, shown);
  table.parentElement.before(box);
  input.addEventListener("input", () => {
    const wanted = input.value.toLowerCase();
    let count = 0;
    for (const row of rows) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
      count += row.hidden ? 0 : 1;
    }
    shown.textContent = wanted === "" ? "" : `${count} of ${rows.length} rows`;
  });
}
