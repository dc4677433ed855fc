"use strict";
// Tables that are sorted and filtered, and the picture whose sources they have. Texts come from files of
// others: they become text nodes, and never markup.

const ROWS = 100; // in a page of a table
const DIGITS = 4; // of numbers without an error in a table, unless all are wanted
const DECIMALS = {hours: 2, degrees: 1, coordinate: 6}; // of positions without an error
const SIGNS = {deg: "°", arcmin: "′", arcsec: "″"};
const MINUS = "−", RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
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

// --- numbers for reading, as in _numbers.py ---

// A number as JavaScript writes it, as people write it: 1e-7 is 10⁻⁷.
function readable(text) {
    const [digits, exponent] = text.replaceAll("-", MINUS).split("e");
    if (exponent === undefined)
        return digits;
    const power = "10" + exponent.replace("+", "").replace(MINUS, "⁻").replace(/\d/g, digit => RAISED[digit]);
    return digits === "1" ? power : `${digits}×${power}`;
}

function rounded(number, digits) {
    const size = Math.abs(number);
    if (size >= 10 ** digits && size < 1e9)
        return readable(number.toFixed(0));
    return readable(Number.isInteger(number) ? String(number) : String(Number(number.toPrecision(digits))));
}

// A value with its error, both to two digits of the error; empty where the error is not known.
function measured(value, error) {
    const decimals = 1 - Math.floor(Math.log10(Number(error.toPrecision(2))));
    if (!(error > 0) || Math.abs(decimals) > 9 || Math.abs(value) > 1e9)
        return "";
    const unit = 10 ** -Math.min(decimals, 0);
    return [value, error].map(each => readable((Math.round(each / unit) * unit * (decimals < 0) + each * (decimals >= 0)).toFixed(Math.max(decimals, 0)))).join(" ± ");
}

// Digits behind the point of a position: to the first one of its error.
function decimalsFor(error, kind) {
    return error > 0 ? Math.min(Math.max(-Math.floor(Math.log10(error)), 0), 9) : DECIMALS[kind];
}

// Seconds of time or of arc as 12h30m49.4s or +12°23′28″. The error (of the same unit) tells how many digits.
function sexagesimal(seconds, error, kind) {
    const decimals = decimalsFor(error, kind);
    const parts = 10 ** decimals, [first, second, third] = kind === "hours" ? ["h", "m", "s"] : ["°", "′", "″"];
    let all = Math.round(Math.abs(seconds) * parts);
    if (kind === "hours")
        all %= 86400 * parts;
    const two = number => String(number).padStart(2, "0");
    const rest = ((all % (60 * parts)) / parts).toFixed(decimals).padStart(decimals ? 3 + decimals : 2, "0");
    const sign = kind === "hours" ? "" : seconds < 0 ? MINUS : "+";
    return `${sign}${two(Math.floor(all / parts / 3600))}${first}${two(Math.floor(all / parts / 60) % 60)}${second}${rest}${third}`;
}

function isPlace(column) {
    return column.kind in DECIMALS;
}

function place(degrees, column, row) {
    const error = (row[column.error] ?? 0) * 3600;
    if (column.kind === "coordinate")
        return readable(degrees.toFixed(decimalsFor(error / 3600, column.kind)));
    if (column.kind === "degrees")
        return sexagesimal(degrees * 3600, error, column.kind);
    const across = Math.cos((row[column.latitude] ?? 0) * Math.PI / 180);
    return sexagesimal((degrees % 360 + 360) % 360 * 240, error / 15 / Math.max(across, 1e-6), column.kind);
}

// The text of a number of a row, in the unit that the table shows.
function readableCell(number, column, row) {
    if (isPlace(column))
        return place(number, column, row);
    const factor = column.factor ?? 1, error = row[column.error];
    const withError = typeof error === "number" ? measured(number / factor, error / factor) : "";
    return withError || rounded(number / factor, DIGITS);
}

// A cell for reading; its element has the number of the catalogue. allDigits: that number is shown, too.
function cellContent(i, row, columns, allDigits) {
    const cell = row[i];
    if (typeof cell !== "number")
        return shown(cell);
    const text = allDigits ? readable(String(cell)) : readableCell(cell, columns[i], row);
    return text === String(cell) ? text : element("data", {value: String(cell), title: `${cell} ${columns[i].catalogue_unit ?? columns[i].unit}`, textContent: text});
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

// A number of a condition in the unit of the catalogue; NaN for what is none. It is in the unit that the table shows, or has its own:
// 5, 5 mJy, 30 arcsec, 12h30m, -4d30m.
function wantedNumber(text, column, allDigits) {
    const place = /^([-+−]?)(\d+)([hd°:])\s*(\d*)[m′:]?\s*([\d.]*)[s″]?$/.exec(text);
    if (place && column.kind === (place[3] === "h" ? "hours" : "degrees"))
        return (place[3] === "h" ? 15 : 1) * (place[1] && place[1] !== "+" ? -1 : 1) * (Number(place[2]) + Number(place[4]) / 60 + Number(place[5]) / 3600);
    const plain = text.replace(MINUS, "-"), number = Number(plain);
    if (!Number.isNaN(number))
        return number * (allDigits ? 1 : column.factor ?? 1);
    const [, digits, unit] = /^(\S+?)\s*([a-zA-Zµ][\w/.*]*)$/.exec(plain) ?? [];
    return Number(digits) * ((column.units ?? {})[unit] ?? NaN);
}

// A condition as a function of a row; throws an Error that says what is wrong.
function condition(text, columns, isText, allDigits) {
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
    const number = isText[index] ? Number(value) : wantedNumber(value, columns[index], allDigits);
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

function conditions(text, columns, isText, allDigits) {
    const all = text.split(",").map(part => part.trim()).filter(part => part).map(part => condition(part, columns, isText, allDigits));
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
        const title = "Numbers are in the unit at the head of their column, or have one: Total_flux > 5 mJy, Maj > 30 arcsec, RA > 12h30m";
        const input = element("input", {type: "search", placeholder: this.example(), title, spellcheck: false});
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
            this.showHead();
            this.filter(this.input.value); // whose numbers are in the units of the head
        });
        return element("details", {}, element("summary", {textContent: "Columns and digits"}),
            element("p", {}, element("label", {}, digits, " All digits of the catalogue, in its units")),
            element("div", {className: "choices"}, ...boxes));
    }

    get shownColumns() {
        return this.columns.map((_, i) => i).filter(i => this.columns[i].shown);
    }

    showHead() {
        this.head.replaceChildren(...this.shownColumns.map(i => {
            const {name, description} = this.columns[i];
            const unit = this.allDigits ? this.columns[i].catalogue_unit ?? this.columns[i].unit : this.columns[i].unit;
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
            holds = conditions(text, this.columns, this.isText, this.allDigits);
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
            const content = cellContent(i, this.rows[index], this.columns, this.allDigits);
            return element("td", {className: this.isText[i] ? "text" : ""}, place === 0 ? this.handle(index, shown(this.rows[index][i])) : content);
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

// A value of the card, with its unit; a position has its error in words.
function cardValue(i, row, columns) {
    const column = columns[i], error = columns[column.error];
    const content = [cellContent(i, row, columns, false)];
    if (column.unit && !(column.kind === "hours" || column.kind === "degrees"))
        content.push(` ${column.unit}`);
    if (isPlace(column) && typeof row[column.error] === "number")
        content.push(` ± ${rounded(row[column.error] / error.factor, 2)}${SIGNS[error.unit] ?? " " + error.unit}`);
    return content;
}

function showCatalogue(sheet) {
    const card = document.querySelector(".card"), root = document.querySelector(".picture");
    const besideValues = new Map(sheet.columns.flatMap((column, i) => typeof column.error === "number" ? [[column.error, i]] : [])); // errors
    let shownIndex = null;
    const show = index => {
        if (index === shownIndex)
            return;
        shownIndex = index;
        const row = sheet.rows[index], name = row[sheet.column("Source_Name")];
        const values = sheet.columns.flatMap((column, i) => row[i] === null || besideValues.has(i) && row[besideValues.get(i)] !== null ? []
            : [element("dt", {textContent: column.name, title: column.description}), element("dd", {}, ...cardValue(i, row, sheet.columns))]);
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
