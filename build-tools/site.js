// Search over what build-tools/site.py wrote to index.js: entries of page, heading, address and text. All words must occur; a hit in a
// heading or a page's name counts more than one in the text.
"use strict";
const field = document.getElementById("search");
const list = document.getElementById("found");
const MOST = 20;
const lower = entries.map((entry) => [entry[0], entry[1], entry[3]].map((text) => text.toLowerCase()));

function rank(index, words) {
    let sum = 0;
    for (const word of words) {
        const [page, head, text] = lower[index];
        const here = (head === word ? 20 : 0) + (head.includes(word) ? 6 : 0) + (page.includes(word) ? 2 : 0) + (text.includes(word) ? 1 : 0);
        if (here === 0) return 0;
        sum += here;
    }
    return sum;
}

function around(text, word) {
    const at = Math.max(0, text.toLowerCase().indexOf(word) - 40);
    return (at > 0 ? "\u2026" : "") + text.slice(at, at + 140);
}

function search() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const hits = words.length ? entries.map((entry, index) => [rank(index, words), entry]).filter(([sum]) => sum > 0) : [];
    hits.sort((a, b) => b[0] - a[0]);
    list.replaceChildren(...hits.slice(0, MOST).map(([, [page, head, address, text]]) => {
        const item = document.createElement("li");
        const link = document.createElement("a");
        const more = document.createElement("small");
        link.href = address;
        link.textContent = head === page ? page : `${page}: ${head}`;
        more.textContent = around(text, words[0]);
        item.append(link, more);
        return item;
    }));
    if (words.length && hits.length === 0) {
        const item = document.createElement("li");
        item.textContent = "No page has all of these words.";
        list.replaceChildren(item);
    }
    list.hidden = words.length === 0;
}

field.addEventListener("input", search);
document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== field) {
        event.preventDefault();
        field.focus();
    }
});
// A narrow screen shows the text first.
if (matchMedia("(max-width: 800px)").matches) document.querySelector(".menu").open = false;
