// The page in a real browser, as people use it: each view by click and by keyboard, light and dark, 400 and 1400 pixels wide.
// No word on the console, and nothing that axe finds wrong.
//
//   node run.js GOWK [part of a test's name]      GOWK is the program to test
//   CHROMIUM=...                                  the browser, else Debian's
//   GOWK_WEB_FILES=..                             take the page from this folder instead of from the program

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { tests } from "./tests.js";

const [, , program, wanted = ""] = process.argv;
if (!program) {
  console.error("usage: node run.js GOWK [part of a test's name]");
  process.exit(2);
}
const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const golden = fileURLToPath(new URL("../../golden", import.meta.url));
const password = "never-to-be-seen";
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "gowk-web-test-"));
const run = (args, input) =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["pipe", "inherit", "inherit"] });
    child.stdin.end(input);
    child.on("error", reject);
    child.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`gowk ${args.join(" ")} exited with ${code}`))));
  });

/** A folder of filters, and a server for it. */
async function serve() {
  const filters = path.join(folder, "filters");
  fs.mkdirSync(path.join(filters, "others"), { recursive: true });
  const keys = (from, to) => Array.from({ length: to - from }, (_, i) => `user-${from + i}\n`).join("");
  await run(["build", "-", "-o", path.join(filters, "monday.gowk"), "--items", "4000", "--seed", "7"], keys(0, 3000));
  await run(["build", "-", "-o", path.join(filters, "tuesday.gowk"), "--items", "4000", "--seed", "7"], keys(1000, 3500));
  await run(["build", "-", "-o", path.join(filters, "nests.gowk"), "--items", "4000", "--family", "cuckoo"], keys(0, 3000));
  fs.copyFileSync(path.join(golden, "guava/str_utf8_1500_p01.bin"), path.join(filters, "others/guava.bin"));
  fs.copyFileSync(path.join(golden, "gowk-v1/bitmap.gowk"), path.join(filters, "others/ids.gowk"));
  fs.writeFileSync(path.join(filters, "<img src=x onerror=alert(1)>.gowk"), "gowk\r\n\x1a\0 but hostile");
  fs.writeFileSync(path.join(folder, "cut.gowk"), fs.readFileSync(path.join(filters, "monday.gowk")).subarray(0, 900));
  fs.copyFileSync(path.join(golden, "parquet/two_columns.parquet"), path.join(filters, "others/people.parquet"));
  const redis = await startRedis();
  process.env.GOWK_REDIS_URL = `redis://:${password}@127.0.0.1:${redis.port}`;
  await run(["redis", "create", "visits", "--items", "4000", "--seed", "7"]);
  await run(["redis", "add", "visits"], keys(0, 3000));
  await run(["redis", "create", "carts", "--items", "1000", "--counting"]);
  await run(["redis", "add", "carts"], keys(0, 100));
  // The URL comes from the environment, as one with a password should.
  const server = spawn(program, ["web", "--port", "0", "--redis", "env", filters], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((resolve, reject) => {
    server.stdout.once("data", (data) => resolve(String(data).trim()));
    server.once("exit", () => reject(new Error("gowk web ended at once")));
  });
  return { server, url, redis };
}

/** A Redis of our own, with a password that must never be seen. */
async function startRedis() {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const port = 20_000 + Math.floor(Math.random() * 30_000);
    const child = spawn("redis-server", ["--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", folder, "--requirepass", password], { stdio: "ignore" });
    const ended = new Promise((resolve) => child.once("exit", () => resolve(false)).once("error", () => resolve(false)));
    for (let i = 0; i < 200; i += 1) {
      const answers = await Promise.race([ended, connects(port)]);
      if (answers === true) return { child, port };
      if (child.exitCode !== null) break;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    child.kill("SIGKILL");
  }
  throw new Error("redis-server does not start; is it installed?");
}

const connects = (port) =>
  new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(undefined));
  });

const { server, url, redis } = await serve();
// However this ends, nothing of it stays.
process.on("exit", () => {
  server.kill("SIGKILL");
  redis.child.kill("SIGKILL");
  fs.rmSync(folder, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  // As root, as in a container, there is no sandbox to be had.
  args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
});
/** The page as its files are now, instead of as the program was built with: for those who work on it. The headers are the program's. */
async function serveFiles(page, files) {
  await page.route("**/*", async (route) => {
    const { pathname } = new URL(route.request().url());
    const file = path.join(files, pathname === "/" ? "index.html" : pathname);
    if (pathname.startsWith("/api/") || !fs.existsSync(file)) return route.continue();
    try {
      await route.fulfill({ response: await route.fetch(), body: fs.readFileSync(file) });
    } catch {
      // The page was closed meanwhile.
    }
  });
}

let failed = 0;
const began = Date.now();

for (const { name, width = 1400, scheme = "light", motion = "reduce", use } of tests) {
  if (!name.includes(wanted)) continue;
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, reducedMotion: motion, acceptDownloads: true });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  if (process.env.GOWK_WEB_FILES) await serveFiles(page, process.env.GOWK_WEB_FILES);
  const said = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && said.push(message.text()));
  page.on("pageerror", (error) => said.push(error.stack ?? error.message));
  page.on("request", (request) => {
    const target = request.url();
    if (!target.startsWith(url) && !target.startsWith("blob:") && !target.startsWith("data:")) said.push(`asked elsewhere: ${target}`);
  });
  /** The refusals that a test provokes are told on the console by the browser itself. */
  const expectRefusal = async (act) => {
    const before = said.length;
    await act();
    const news = said.splice(before).filter((text) => !/the server responded with a status of (400|404|413|502)/.test(text));
    said.push(...news);
  };
  const check = async (what) => {
    const found = await page.evaluate(`${axe}; axe.run(document, { resultTypes: ["violations"] }).then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.target.join(" ") + " " + n.failureSummary).slice(0, 3).join(" | ")))`);
    assert.deepEqual(found, [], `axe, ${what}`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(wide <= 0, `${what}: the page is ${wide} pixels wider than the window`);
  };
  const start = Date.now();
  try {
    await use({ page, url, folder, password, redis, check, expectRefusal, width, shot: (file) => page.screenshot({ path: path.join(folder, file) }) });
    assert.deepEqual(said, [], "the console");
    console.log(`ok    ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed += 1;
    const picture = path.join(os.tmpdir(), `gowk-web-${name.replaceAll(/\W+/g, "-")}.png`);
    await page.screenshot({ path: picture, fullPage: true }).catch(() => {});
    console.log(`FAIL  ${name}\n${error.stack}\n${said.join("\n")}\n      seen: ${picture}`);
  }
  await context.close();
}

await browser.close();
const ended = new Promise((resolve) => server.once("exit", resolve));
server.kill("SIGINT");
const code = await ended;
if (code !== 0) {
  failed += 1;
  console.log(`FAIL  gowk web ends well on Ctrl-C: it exited with ${code}`);
}
console.log(failed === 0 ? `all passed in ${((Date.now() - began) / 1000).toFixed(0)} s` : `${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
