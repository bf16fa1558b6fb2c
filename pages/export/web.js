"use strict";
const charts = JSON.parse(document.getElementById("charts").textContent);
for (const [id, chart] of Object.entries(charts)) {
  vegaEmbed(document.getElementById(id), chart, {
    ast: true,
    renderer: "svg",
    actions: { export: true, source: false, compiled: false, editor: false },
  });
}

const valueOf = (row, column) => {
  const cell = row.cells[column];
  return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
};
const inOrder = (one, other) =>
  typeof one === "number" && typeof other === "number"
    ? one - other
    : String(one).localeCompare(String(other));
for (const head of document.querySelectorAll("th")) {
  head.addEventListener("click", () => {
    const body = head.closest("table").tBodies[0];
    const sign = head.dataset.sorted === "up" ? -1 : 1;
    for (const each of head.parentNode.cells) delete each.dataset.sorted;
    head.dataset.sorted = sign === 1 ? "up" : "down";
    const column = head.cellIndex;
    const rows = [...body.rows].sort(
      (one, other) => sign * inOrder(valueOf(one, column), valueOf(other, column)),
    );
    body.append(...rows);
  });
}
