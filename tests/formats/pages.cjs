// Opens the HTML pages in headless Chromium, as a person and as a screen reader would, and keeps
// screenshots of them below WORK/pages for a person to look at.
//
// Usage: pages.cjs COPART WORK, as `run` calls it.
"use strict";
const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
const { chromium } = require("playwright-core");

const [copart, work] = process.argv.slice(2).map((name) => path.resolve(name));
const folder = path.join(work, "pages");
const example = "docs/examples/user-events.jsonl";
const marked = "window.broken = true";
const HOSTILE = [
  `</script><script>${marked}</script>`, `<img src=x onerror="${marked}">`, `"><svg onload=${marked}>`,
  "=1+1", "\u202eevil", "</table></body>", "&lt;b&gt;", "München",
];
const SIZES = [
  { name: "light", colorScheme: "light", viewport: { width: 1100, height: 800 } },
  { name: "dark", colorScheme: "dark", viewport: { width: 1100, height: 800 } },
  { name: "phone", colorScheme: "light", viewport: { width: 360, height: 740 }, reducedMotion: "reduce" },
];

function write(name, args) {
  const file = path.join(folder, `${name}.html`);
  let page;
  try {
    page = execFileSync(copart, [...args, "--output", "html"], { maxBuffer: 1 << 26 });
  } catch (error) {
    assert.ok([1, 4].includes(error.status), String(error.stderr)); // Disagreement is an answer, and so is none.
    page = error.stdout;
  }
  fs.writeFileSync(file, page);
  return file;
}

function pages() {
  const hostile = path.join(folder, "hostile.txt");
  fs.writeFileSync(hostile, HOSTILE.map((key) => `${key}\n`.repeat(300)).join(""));
  const odd = path.join(folder, "odd.txt");
  fs.writeFileSync(odd, [...HOSTILE, "007", "7", " x ", "e\u0301", "\u00e9"].map((key) => `${key}\n`).join(""));
  const many = path.join(folder, "many.txt");
  fs.writeFileSync(many, Array.from({ length: 30_000 }, (_, i) => `user-${i}\n`).join(""));
  return {
    verify: write("verify", ["verify", example, "-p", "12,16", "--clients", "java,sarama,kafkajs@1.16"]),
    "verify-hostile": write("verify-hostile", ["verify", hostile, "-p", "12", "--show", "100"]),
    movement: write("movement", ["movement", example, "--from", "java:6", "--to", "librdkafka:8"]),
    "movement-wide": write("movement-wide", ["movement", many, "--from", "java:300", "--to", "600"]),
    "movement-hostile": write("movement-hostile", ["movement", hostile, "--from", "java:3", "--to", "5"]),
    skew: write("skew", ["skew", example, "-p", "12"]),
    "skew-hostile": write("skew-hostile", ["skew", hostile, "-p", "12,500"]),
    infer: write("infer", ["infer", "--input", "docs/examples/orders.kcat", "--kcat-format", "%p %o %T %K %k\\n", "-p", "12"]),
    "infer-hostile": write("infer-hostile", ["infer", "--input", spread(folder), "-p", "12"]),
    lint: write("lint", ["lint", example, "--show", "20"]),
    "lint-hostile": write("lint-hostile", ["lint", odd, "--show", "100"]),
    copartition: write("copartition", ["copartition", spread(folder), spread(folder, 7), "-p", "12"]),
    check: write("check", ["check", "docs/examples/contract/copart.toml"]),
    "check-broken": write("check-broken", ["check", broken(folder)]),
  };
}

/** A dump in which keys of all kinds are on several partitions. */
function spread(folder, step = 5) {
  const file = path.join(folder, `spread-${step}.jsonl`);
  const keys = [...HOSTILE, ...Array.from({ length: 200 }, (_, i) => `user-${i}`)];
  const records = Array.from({ length: 900 }, (_, i) => ({ partition: (i * step) % 12, offset: i, key: keys[i % keys.length] }));
  fs.writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  return file;
}

/** The example's contract after an upgrade, with keys that would like to be markup. */
function broken(folder) {
  const repository = path.join(folder, "contract");
  fs.cpSync("docs/examples/contract", repository, { recursive: true });
  const lock = path.join(repository, "package-lock.json");
  fs.writeFileSync(lock, fs.readFileSync(lock, "utf8").replaceAll("1.16.0", "2.2.4"));
  const contract = path.join(repository, "copart.toml");
  const hostile = HOSTILE.map((key) => `  { key = ${JSON.stringify(key)} },\n`).join("");
  fs.writeFileSync(contract, fs.readFileSync(contract, "utf8").replace("keys = [\n", `keys = [\n${hostile}`));
  return contract;
}

async function verdict(page, word) {
  assert.equal(await page.locator(".verdict strong").textContent(), word);
}

/** What a page of each kind must say, beside what holds for all. */
const SAYS = {
  infer: async (page) => {
    await verdict(page, "mixed");
    assert.ok(await page.getByRole("heading", { name: "Who wrote when" }).isVisible());
    assert.ok((await page.locator("svg[role=img]").count()) >= 3, "rules, partitions, hypotheses");
  },
  lint: async (page) => {
    await verdict(page, "clean");
    assert.ok(await page.getByRole("heading", { name: "What the keys look like" }).isVisible());
  },
  "lint-hostile": async (page) => verdict(page, "problems"),
  copartition: async (page) => {
    const rows = page.locator("section", { has: page.getByRole("heading", { name: "What must hold" }) }).locator("tbody tr");
    assert.equal(await rows.count(), 4);
  },
  check: async (page) => {
    await verdict(page, "kept");
    assert.match(await page.locator("section").first().textContent(), /kafkajs 1\.16\.0/);
  },
  "check-broken": async (page) => {
    await verdict(page, "broken");
    assert.match(await page.locator(".verdict").textContent(), /kafkajs\/default.*of 28 sample keys move/s);
    const moved = page.locator("section", { has: page.getByRole("heading", { name: "puts elsewhere" }) });
    assert.ok((await moved.locator("tbody tr").count()) >= 20);
    await moved.getByRole("button", { name: "goes" }).click();
    assert.equal(await moved.locator("th[aria-sort=ascending]").count(), 1);
  },
};

/** What must hold for every page, whatever it shows. */
async function sound(page) {
  const found = await page.evaluate(() => {
    const ids = Array.from(document.querySelectorAll("[id]"), (element) => element.id);
    const text = (id) => document.getElementById(id)?.textContent ?? "";
    const luminance = (color) => {
      const parts = color.match(/[\d.]+/g).slice(0, 3).map((part) => {
        const c = Number(part) / 255;
        return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
    };
    const background = (element) => {
      for (let at = element; at; at = at.parentElement) {
        const color = getComputedStyle(at).backgroundColor;
        if (!/, 0\)$/.test(color)) return color;
      }
      return "rgb(255, 255, 255)";
    };
    const contrast = (element, property) => {
      const [a, b] = [getComputedStyle(element)[property], background(element)].map(luminance);
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    };
    const least = (selector, property) =>
      Math.min(...Array.from(document.querySelectorAll(selector), (e) => contrast(e, property)), 99);
    return {
      broken: window.broken === true,
      headings: document.querySelectorAll("h1").length,
      language: document.documentElement.lang,
      duplicates: ids.filter((id, at) => ids.indexOf(id) !== at),
      wider: document.documentElement.scrollWidth > document.documentElement.clientWidth,
      unlabelled: Array.from(document.querySelectorAll("svg[role=img]")).filter((svg) =>
        svg.getAttribute("aria-labelledby").split(" ").some((id) => text(id) === "")).length,
      plots: document.querySelectorAll("svg[role=img]").length,
      outside: Array.from(document.querySelectorAll("svg[role=img]")).filter((svg) =>
        Array.from(svg.querySelectorAll("rect, path, text")).some((mark) => {
          const [a, b] = [mark.getBoundingClientRect(), svg.getBoundingClientRect()];
          return a.left < b.left - 12 || a.right > b.right + 12 || a.bottom > b.bottom + 12;
        })).length,
      nameless: Array.from(document.querySelectorAll("button, [role=region]")).filter((element) =>
        !element.getAttribute("aria-label") && element.textContent.trim() === "").length,
      rows: Array.from(document.querySelectorAll("table"), (table) => {
        const columns = table.tHead.rows[0].cells.length;
        return Array.from(table.tBodies[0].rows).every((row) => row.cells.length === columns);
      }).every(Boolean),
      text: Math.min(least("p, td, th, dt, dd, figcaption, h1, h2, li, footer", "color"), least("svg text", "fill")),
      marks: least("rect.stay, rect.move, rect.other", "fill"),
    };
  });
  assert.equal(found.broken, false, "a key ran as script");
  assert.equal(found.headings, 1);
  assert.equal(found.language, "en");
  assert.deepEqual(found.duplicates, []);
  assert.equal(found.wider, false, "the page scrolls sideways");
  assert.ok(found.plots > 0, "no plots");
  assert.equal(found.unlabelled, 0, "a plot without words");
  assert.equal(found.outside, 0, "a plot draws outside of itself");
  assert.equal(found.nameless, 0);
  assert.ok(found.rows, "a row has another number of cells than its head");
  assert.ok(found.text >= 4.5, `text has a contrast of ${found.text}`); // WCAG AA
  assert.ok(found.marks >= 3, `marks have a contrast of ${found.marks}`);
}

/** Tables sort by keyboard and filter by what is typed. */
async function tables(page) {
  const table = page.locator("section", { has: page.getByRole("heading", { name: "Each partition after" }) });
  const column = async (at) => (await table.locator("tbody tr:visible").evaluateAll(
    (rows, index) => rows.map((row) => Number(row.cells[index].dataset.v)), at));
  const button = table.getByRole("button", { name: "keys" });
  await button.focus();
  await page.keyboard.press("Enter");
  const up = await column(1);
  assert.ok(up.length === 8 && up.every((n, at) => at === 0 || up[at - 1] <= n), `${up}`);
  assert.equal(await table.locator("th").nth(1).getAttribute("aria-sort"), "ascending");
  await page.keyboard.press("Space");
  assert.deepEqual(await column(1), up.slice().reverse());
  assert.equal(await table.locator("th").nth(1).getAttribute("aria-sort"), "descending");
  await table.getByRole("searchbox", { name: "Filter" }).fill("no such row");
  assert.equal((await column(0)).length, 0);
  assert.equal(await table.getByRole("status").textContent(), "0 of 8 rows");
  await table.getByRole("searchbox").fill("");
  assert.equal((await column(0)).length, 8);
  await page.keyboard.press("Home");
  await page.getByRole("link", { name: "Skip to the answer" }).focus();
  assert.ok(await page.getByRole("link", { name: "Skip to the answer" }).isVisible());
}

async function main() {
  fs.mkdirSync(folder, { recursive: true });
  const executablePath = process.env.CHROMIUM || "/usr/bin/chromium";
  const args = ["--no-sandbox", "--disable-quic", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
  const browser = await chromium.launch({ executablePath, args });
  let failed = 0;
  for (const [name, file] of Object.entries(pages())) {
    for (const { name: size, ...options } of SIZES) {
      const page = await browser.newPage(options);
      page.setDefaultTimeout(180_000); // A busy machine is no fault of the page.
      const complaints = [];
      page.on("console", (message) => complaints.push(message.text()));
      page.on("pageerror", (error) => complaints.push(String(error)));
      page.on("request", (request) => request.url().startsWith("file:") || complaints.push(request.url()));
      try {
        await page.goto(pathToFileURL(file).href);
        await sound(page);
        if (name === "movement") await tables(page);
        await SAYS[name]?.(page);
        assert.deepEqual(complaints, []);
        await page.screenshot({ path: path.join(folder, `${name}-${size}.png`), fullPage: true });
        console.log(`ok     page ${name}, ${size}`);
      } catch (error) {
        failed += 1;
        console.log(`FAILED page ${name}, ${size}: ${error.message}`);
      }
      await page.close();
    }
  }
  await browser.close();
  if (failed > 0) throw new Error(`${failed} pages failed`);
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
