"use strict";
// Tables that sort and filter. Each column head becomes a button; each table that asks for it gets labelled filters.
(() => {
  const number = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;
  const key = cell => {
    const given = cell.dataset.v;
    const text = given === undefined ? cell.textContent.trim() : given;
    return number.test(text) ? Number(text) : text;
  };
  const missing = value => value === "" || value === "-";
  const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b
    : typeof a === "number" ? -1 : typeof b === "number" ? 1 : a.localeCompare(b, "en", {numeric: true});

  const sort = (table, head) => {
    const index = [...head.parentNode.children].indexOf(head);
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const rows = [...table.tBodies[0].rows].map((row, order) => [key(row.cells[index]), order, row]);
    rows.sort((a, b) => {
      if (missing(a[0]) !== missing(b[0])) return missing(a[0]) ? 1 : -1; // what is missing stays at the end
      return (up ? 1 : -1) * compare(a[0], b[0]) || a[1] - b[1];
    });
    table.tBodies[0].append(...rows.map(row => row[2]));
  };

  const field = (label, control) => {
    const holder = document.createElement("label");
    holder.append(label, control);
    return holder;
  };

  const filters = (table, heads) => {
    const tools = document.createElement("div");
    tools.className = "tools";
    tools.setAttribute("role", "search");
    tools.setAttribute("aria-label", "Filter: " + (table.caption ? table.caption.textContent : "table"));
    const status = document.createElement("p");
    status.className = "status";
    status.setAttribute("role", "status");
    const words = document.createElement("input");
    words.type = "search";
    words.autocomplete = "off";
    tools.append(field("Rows that contain", words));
    const choices = [];
    heads.forEach((head, index) => {
      if (head.dataset.choice === undefined) return;
      const found = [...new Set([...table.tBodies[0].rows].map(row => row.cells[index].textContent.trim()))].sort();
      if (found.length < 2 || found.length > 60) return;
      const list = document.createElement("select");
      list.append(new Option("all", ""), ...found.map(text => new Option(text, "=" + text)));
      tools.append(field(head.textContent.trim(), list));
      choices.push([index, list]);
    });
    const apply = () => {
      const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of table.tBodies[0].rows) {
        const text = row.textContent.toLowerCase();
        const fits = wanted.every(word => text.includes(word))
          && choices.every(([index, list]) => !list.value || "=" + row.cells[index].textContent.trim() === list.value);
        row.hidden = !fits;
        shown += fits;
      }
      status.textContent = `${shown} of ${table.tBodies[0].rows.length} rows`;
    };
    tools.addEventListener("input", apply);
    tools.append(status);
    table.closest(".scroll").before(tools);
    apply();
  };

  for (const table of document.querySelectorAll("table[data-sort]")) {
    const heads = [...table.tHead.rows[0].cells];
    if (table.dataset.sort === "filter") filters(table, heads);
    for (const head of heads) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, head));
      head.append(button);
    }
  }

  // A link to something inside a closed part of the page opens that part.
  const open = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", open);
  open();
  // On paper nothing can be opened: plans are printed whole, tables behind drawings are not.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details.case:not([open])")];
    for (const part of closed) part.open = true;
  });
  addEventListener("afterprint", () => closed.forEach(part => { part.open = false; }));
})();
