// Cards that are tabs by the ARIA pattern: one is in the tab order, arrow keys go to the next.

export class Tabs {
  #list;
  #panel;
  #onSelect;
  #names = [];
  #selected = null;

  constructor(list, panel, onSelect) {
    this.#list = list;
    this.#panel = panel;
    this.#onSelect = onSelect;
    list.addEventListener("click", (event) => {
      const tab = event.target.closest("[role=tab]");
      if (tab !== null) this.#choose(tab.dataset.name);
    });
    list.addEventListener("keydown", (event) => this.#onKey(event));
  }

  /** Show a card for each entry, and which one is selected. */
  show(entries, selected) {
    const names = entries.map(({ name }) => name);
    if (names.join("\n") !== this.#names.join("\n")) this.#rebuild(names);
    if (selected !== this.#selected || this.#panel.getAttribute("aria-labelledby") === null) {
      this.#select(selected);
    }
    for (const [index, { figure, trend, note, colour }] of entries.entries()) {
      const tab = this.#list.children[index];
      const [, ...parts] = tab.children;
      for (const [part, text] of [figure, trend && `and ${trend}`, note].entries()) {
        if (parts[part].textContent !== text) parts[part].textContent = text;
      }
      tab.dataset.trend = trend;
      tab.style.setProperty("--series", colour);
    }
  }

  #rebuild(names) {
    const focused = this.#list.contains(document.activeElement)
      ? document.activeElement.dataset.name
      : null;
    this.#names = names;
    this.#list.replaceChildren(...names.map((name) => this.#tab(name)));
    this.#select(this.#selected);
    if (focused !== null) (this.#find(focused) ?? this.#list.firstElementChild)?.focus();
  }

  #tab(name) {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.id = `tab-${name}`;
    tab.dataset.name = name;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", this.#panel.id);
    for (const part of ["tab-name", "tab-figure", "tab-trend", "tab-note"]) {
      const span = document.createElement("span");
      span.className = part;
      tab.append(span);
    }
    tab.firstElementChild.textContent = name;
    return tab;
  }

  #select(name) {
    this.#selected = name;
    for (const tab of this.#list.children) {
      const isSelected = tab.dataset.name === name;
      tab.setAttribute("aria-selected", String(isSelected));
      tab.tabIndex = isSelected ? 0 : -1;
    }
    if (name !== null) this.#panel.setAttribute("aria-labelledby", `tab-${name}`);
  }

  #choose(name) {
    this.#select(name);
    this.#onSelect(name);
    const tab = this.#find(name);
    tab?.focus();
    tab?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  #onKey(event) {
    const last = this.#names.length - 1;
    const at = this.#names.indexOf(this.#selected);
    const next = {
      ArrowRight: at === last ? 0 : at + 1,
      ArrowLeft: at <= 0 ? last : at - 1,
      Home: 0,
      End: last,
    }[event.key];
    if (next === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.#choose(this.#names[next]);
  }

  #find(name) {
    return [...this.#list.children].find((tab) => tab.dataset.name === name) ?? null;
  }
}
