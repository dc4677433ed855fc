"use strict";
// Tables that are sorted and filtered, and the picture whose sources they have. Texts come from files of
// others: they become text nodes, and never markup.

const ROWS = 100; // in a page of a table
const DIGITS = 5, DIGITS_OF_DEGREES = 8; // of numbers in a table, unless all are wanted
const NEAR = 14; // pixels on the screen from the pointer to a source
const CUTOUT = 60; // pixels of the picture from a chosen source to the edge of its cutout
const ARTEFACT = 2048; // in Flags
const SVG = "http://www.w3.org/2000/svg";

// --- elements ---

function element(name, properties = {}, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
}

function drawing(name, attributes, ...children) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes))
        made.setAttribute(key, value);
    made.append(...children);
    return made;
}

// --- data ---

async function unpack(packed) {
    const bytes = Uint8Array.from(atob(packed.trim()), character => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const {columns, n, cells, links} = JSON.parse(await new Response(stream).text());
    return {columns, links, rows: Array.from({length: n}, (_, row) => cells.map(column => column[row]))};
}

function shown(cell) {
    return cell === null ? "" : String(cell);
}

// A number with fewer digits for reading; its element has the number of the catalogue.
function rounded(number, unit) {
    const digits = unit === "deg" && Math.abs(number) >= 1 ? DIGITS_OF_DEGREES : DIGITS;
    const text = Number.isInteger(number) ? String(number) : String(Number(number.toPrecision(digits)));
    return text === String(number) ? text : element("data", {value: String(number), title: String(number), textContent: text});
}

// Numbers by value, texts by letters, and what is missing at the end in both directions.
function compare(a, b, direction) {
    if (a === null || b === null)
        return (a === null) - (b === null);
    if (typeof a === "number" && typeof b === "number")
        return direction * (a - b);
    return direction * String(a).localeCompare(String(b), "en", {numeric: true});
}

// --- filters: `SNR > 10, Flags & 1, J1812` ---

const OPERATORS = {
    "<": (a, b) => a < b,
    "<=": (a, b) => a <= b,
    ">": (a, b) => a > b,
    ">=": (a, b) => a >= b,
    "=": (a, b) => a === b,
    "!=": (a, b) => a !== b,
    "&": (a, b) => (a & b) !== 0,
};

// A condition as a function of a row; throws an Error that says what is wrong.
function condition(text, columns, isText) {
    const parts = /^(\w+)\s*(<=|>=|!=|==?|<|>|&)\s*(.*)$/.exec(text);
    if (!parts) {
        const wanted = text.toLowerCase();
        return row => row.some(cell => typeof cell === "string" && cell.toLowerCase().includes(wanted));
    }
    const [, name, operator, value] = parts;
    const index = columns.findIndex(column => column.name.toLowerCase() === name.toLowerCase());
    if (index < 0)
        throw new Error(`there is no column ${name}`);
    if (!value)
        throw new Error(`${name} ${operator} what?`);
    const holds = OPERATORS[operator === "==" ? "=" : operator];
    const number = Number(value);
    if (!isText[index] && Number.isNaN(number))
        throw new Error(`${value} is no number (conditions have commas between them)`);
    return row => {
        const cell = row[index];
        if (cell === null)
            return false;
        if (typeof cell === "number")
            return holds(cell, number);
        return holds(cell.toLowerCase(), value.toLowerCase());
    };
}

function conditions(text, columns, isText) {
    const all = text.split(",").map(part => part.trim()).filter(part => part).map(part => condition(part, columns, isText));
    return row => all.every(holds => holds(row));
}

// --- tables ---

class Sheet {
    constructor(root, {columns, rows, links}) {
        Object.assign(this, {root, columns, rows, links, page: 0, sorted: null, direction: 1, chosen: null, allDigits: false});
        this.order = rows.map((_, index) => index);
        this.isText = columns.map((_, i) => rows.some(row => typeof row[i] === "string"));
        this.head = element("tr");
        this.body = element("tbody");
        this.status = element("span", {role: "status"});
        this.build();
        this.showHead();
        this.showRows();
    }

    build() {
        const input = element("input", {type: "search", placeholder: this.example(), spellcheck: false});
        input.addEventListener("input", () => this.filter(input.value));
        this.input = input;
        this.back = element("button", {type: "button", textContent: "Previous rows", onclick: () => this.turn(-1)});
        this.forth = element("button", {type: "button", textContent: "Next rows", onclick: () => this.turn(1)});
        const scroll = element("div", {className: "scroll", tabIndex: 0}, element("table", {}, element("thead", {}, this.head), this.body));
        scroll.setAttribute("role", "group");
        scroll.setAttribute("aria-label", "Table");
        this.root.append(
            element("div", {className: "controls"}, element("label", {}, "Filter ", input), ...this.artefactBox(), this.back, this.forth, this.status),
            this.choices(), scroll);
    }

    // A box that hides the rows that may be artefacts, if there are any.
    artefactBox() {
        const flags = this.columns.findIndex(column => column.name === "Flags");
        const n = flags < 0 ? 0 : this.rows.filter(row => row[flags] & ARTEFACT).length;
        if (n === 0)
            return [];
        this.noArtefacts = element("input", {type: "checkbox"});
        this.noArtefacts.addEventListener("change", () => this.filter(this.input.value));
        this.isArtefact = row => (row[flags] & ARTEFACT) !== 0;
        const title = "Rows with flag 2048: holes around them are about as deep as they are high";
        return [element("label", {title}, this.noArtefacts, ` Hide ${n} that may be artefacts`)];
    }

    // A filter that suits the columns, for people to begin with.
    example() {
        const known = ["SNR > 10", "Flags & 1", "status = failed"].filter(text => this.columns.some(column => column.name === text.split(" ")[0]));
        return known.concat(["some text"]).join(", ");
    }

    choices() {
        const boxes = this.columns.map(column => {
            const box = element("input", {type: "checkbox", checked: column.shown});
            box.addEventListener("change", () => {
                column.shown = box.checked;
                this.showHead();
                this.showRows();
            });
            return element("label", {title: column.description}, box, " ", column.name);
        });
        const digits = element("input", {type: "checkbox"});
        digits.addEventListener("change", () => {
            this.allDigits = digits.checked;
            this.showRows();
        });
        return element("details", {}, element("summary", {textContent: "Columns and digits"}),
            element("p", {}, element("label", {}, digits, " All digits of the catalogue")),
            element("div", {className: "choices"}, ...boxes));
    }

    get shownColumns() {
        return this.columns.map((_, i) => i).filter(i => this.columns[i].shown);
    }

    showHead() {
        this.head.replaceChildren(...this.shownColumns.map(i => {
            const {name, unit, description} = this.columns[i];
            const arrow = this.sorted !== i ? "" : this.direction > 0 ? " ▲" : " ▼";
            const button = element("button", {type: "button", textContent: name + arrow, title: description, onclick: () => this.sort(i)});
            const cell = element("th", {scope: "col", className: this.isText[i] ? "text" : ""}, button, element("span", {textContent: unit}));
            cell.dataset.name = name; // for print
            cell.setAttribute("aria-sort", this.sorted !== i ? "none" : this.direction > 0 ? "ascending" : "descending");
            return cell;
        }));
    }

    sort(i) {
        this.direction = this.sorted === i ? -this.direction : 1;
        this.sorted = i;
        this.arrange();
        this.page = 0;
        this.showHead();
        this.showRows();
        this.head.children[this.shownColumns.indexOf(i)].firstChild.focus();
    }

    arrange() {
        if (this.sorted !== null)
            this.order.sort((a, b) => compare(this.rows[a][this.sorted], this.rows[b][this.sorted], this.direction) || a - b);
    }

    isHidden(row) {
        return this.noArtefacts !== undefined && this.noArtefacts.checked && this.isArtefact(row);
    }

    filter(text) {
        let holds;
        try {
            holds = conditions(text, this.columns, this.isText);
        } catch (error) {
            this.status.textContent = error.message;
            this.status.className = "wrong";
            return;
        }
        this.order = this.rows.map((_, index) => index).filter(index => holds(this.rows[index]) && !this.isHidden(this.rows[index]));
        this.arrange();
        this.page = 0;
        this.showRows();
    }

    turn(pages) {
        this.page += pages;
        this.showRows();
    }

    showRows() {
        const first = this.page * ROWS, end = Math.min(first + ROWS, this.order.length);
        this.body.replaceChildren(...this.order.slice(first, end).map(index => this.row(index)));
        this.back.disabled = first === 0;
        this.forth.disabled = end === this.order.length;
        const filtered = this.order.length < this.rows.length ? ` (of ${this.rows.length})` : "";
        this.status.className = "";
        this.status.textContent = end ? `rows ${first + 1} to ${end} of ${this.order.length}${filtered}` : `no row${filtered}`;
    }

    row(index) {
        const made = element("tr", {className: index === this.chosen ? "chosen" : ""}, ...this.shownColumns.map((i, place) => {
            const cell = this.rows[index][i];
            const content = typeof cell === "number" && !this.allDigits ? rounded(cell, this.columns[i].unit) : shown(cell);
            return element("td", {className: this.isText[i] ? "text" : ""}, place === 0 ? this.handle(index, shown(cell)) : content);
        }));
        made.addEventListener("click", () => this.choose(index));
        return made;
    }

    // What stands in the first cell: a link where the row leads somewhere, else what chooses the row.
    handle(index, text) {
        const link = this.links[index];
        return link ? element("a", {href: link, textContent: text}) : element("button", {type: "button", textContent: text || "–"});
    }

    choose(index) {
        this.chosen = index;
        for (const row of this.body.children)
            row.classList.remove("chosen");
        const place = this.order.indexOf(index) - this.page * ROWS;
        if (place >= 0 && place < this.body.children.length)
            this.body.children[place].classList.add("chosen");
        this.root.dispatchEvent(new CustomEvent("choose", {detail: index}));
    }

    // Turns to the page of a row, and chooses it.
    find(index) {
        const place = this.order.indexOf(index);
        if (place >= 0)
            this.page = Math.floor(place / ROWS);
        this.showRows();
        this.choose(index);
    }

    column(name) {
        return this.columns.findIndex(column => column.name === name);
    }
}

// --- the picture, and the card of a source ---

class Picture {
    constructor(root, sheet, card) {
        this.image = root.querySelector("img");
        const view = JSON.parse(root.querySelector("script").textContent);
        const x = sheet.column("Xposn"), y = sheet.column("Yposn");
        this.places = sheet.rows.map(row => row[x] === null || row[y] === null ? null
            : [view.left + (row[x] + 0.5) * view.scale, view.top + view.height - (row[y] + 0.5) * view.scale]);
        this.mark = drawing("circle", {r: 22, fill: "none", stroke: "#e69f00", "stroke-width": 4, visibility: "hidden"});
        root.append(drawing("svg", {viewBox: `0 0 ${this.width} ${this.image.getAttribute("height")}`, "aria-hidden": "true"}, this.mark));
        root.addEventListener("pointermove", event => {
            const index = this.nearest(event);
            root.style.cursor = index < 0 ? "" : "pointer";
            if (index >= 0)
                card(index);
            else if (sheet.chosen !== null)
                card(sheet.chosen);
        });
        root.addEventListener("click", event => {
            const index = this.nearest(event);
            if (index >= 0)
                sheet.find(index);
        });
    }

    // The source under the pointer, or -1.
    nearest(event) {
        const box = this.image.getBoundingClientRect();
        const zoom = this.width / box.width;
        const x = (event.clientX - box.left) * zoom, y = (event.clientY - box.top) * zoom;
        let found = -1, least = (NEAR * zoom) ** 2;
        this.places.forEach((place, index) => {
            const distance = place ? (place[0] - x) ** 2 + (place[1] - y) ** 2 : Infinity;
            if (distance < least)
                [found, least] = [index, distance];
        });
        return found;
    }

    get width() {
        return Number(this.image.getAttribute("width"));
    }

    // Marks a source, and returns the picture around it.
    show(index) {
        const place = this.places[index];
        this.mark.setAttribute("visibility", place ? "visible" : "hidden");
        if (!place)
            return [];
        const [x, y] = place;
        this.mark.setAttribute("cx", x);
        this.mark.setAttribute("cy", y);
        const around = drawing("image", {href: this.image.src, width: this.width, height: this.image.getAttribute("height")});
        return [drawing("svg", {viewBox: `${x - CUTOUT} ${y - CUTOUT} ${2 * CUTOUT} ${2 * CUTOUT}`}, around)];
    }
}

function showCatalogue(sheet) {
    const card = document.querySelector(".card"), root = document.querySelector(".picture");
    let shownIndex = null;
    const show = index => {
        if (index === shownIndex)
            return;
        shownIndex = index;
        const row = sheet.rows[index], name = row[sheet.column("Source_Name")];
        const values = sheet.columns.flatMap((column, i) => row[i] === null ? []
            : [element("dt", {textContent: column.name, title: column.description}), element("dd", {}, `${row[i]} ${column.unit}`)]);
        card.replaceChildren(element("h3", {}, `Source ${shown(row[sheet.column("Source_id")])} ${shown(name ?? null)}`),
            ...(picture ? picture.show(index) : []), element("dl", {}, ...values));
    };
    const picture = root && new Picture(root, sheet, show);
    sheet.root.addEventListener("choose", event => show(event.detail));
}

// --- the map of a night ---

// Where a footprint is, in pixels of the screen.
function middle(tile) {
    const box = tile.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
}

// The next tile in a direction (one of the arrow keys), within 45 degrees of it; undefined where there is none.
function neighbour(tiles, from, key) {
    const [x, y] = middle(from), along = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[key];
    let found, least = Infinity;
    for (const tile of tiles) {
        const [u, v] = middle(tile), ahead = (u - x) * along[0] + (v - y) * along[1], distance = Math.hypot(u - x, v - y);
        if (tile !== from && ahead > 1 && distance < least && ahead >= 0.7 * distance)
            [found, least] = [tile, distance];
    }
    return found;
}

// The tiles of the map: their figures below it, under the pointer and by the arrow keys. One tile at a time is a stop of the tab key.
function showMap(map, sheet) {
    const tiles = [...map.querySelectorAll(".tile")], output = document.querySelector(".chosen-tile");
    const outline = drawing("path", {"class": "outline"}); // above all tiles, which overlap
    tiles[0].parentNode.append(outline);
    const show = tile => {
        output.textContent = tile.querySelector("title").textContent;
        outline.setAttribute("d", tile.querySelector("path").getAttribute("d"));
    };
    const choose = tile => {
        for (const other of map.querySelectorAll(".tile[tabindex='0']"))
            other.setAttribute("tabindex", "-1");
        tile.setAttribute("tabindex", "0");
        show(tile);
    };
    tiles[0].setAttribute("tabindex", "0");
    for (const kind of ["pointerover", "focusin"]) {
        map.addEventListener(kind, event => {
            const tile = event.target.closest(".tile");
            if (tile)
                (kind === "focusin" ? choose : show)(tile);
        });
    }
    map.addEventListener("keydown", event => {
        const from = event.target.closest(".tile"), next = from && event.key.startsWith("Arrow") && neighbour(tiles, from, event.key);
        if (next) {
            event.preventDefault();
            next.focus();
        }
    });
    sheet.root.addEventListener("choose", event => {
        const tile = document.getElementById(`tile-${event.detail}`);
        if (tile)
            choose(tile);
    });
}

async function start() {
    for (const root of document.querySelectorAll(".sheet")) {
        const sheet = new Sheet(root, await unpack(root.querySelector("script").textContent));
        if (root.id === "sources-sheet")
            showCatalogue(sheet);
        else if (document.querySelector(".skymap"))
            showMap(document.querySelector(".skymap"), sheet);
    }
    document.documentElement.dataset.ready = "yes"; // for tests
}

start();
