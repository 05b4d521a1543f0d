// What people do on the page. A test is { name, width, scheme, use }.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";

const sizes = [
  { width: 1400, scheme: "light" },
  { width: 1400, scheme: "dark" },
  { width: 400, scheme: "light" },
  { width: 400, scheme: "dark" },
];
const everywhere = (name, use) => sizes.map((size) => ({ name: `${name}, ${size.scheme}, ${size.width}`, ...size, use }));

const says = (page) => page.locator(".says strong").innerText();
/** Waits until the words under the stage begin so; playing a story takes a while. */
const waitSays = (page, words) => page.waitForFunction((text) => document.querySelector(".says strong")?.textContent.includes(text), words);
const post = (page, where, body) =>
  page.evaluate(([to, what]) => fetch(`api/${to}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(what) }).then((r) => r.json()), [where, body]);

/** Presses Tab until the focus is on what the selector names. */
async function tabTo(page, selector) {
  for (let i = 0; i < 120; i += 1) {
    await page.keyboard.press("Tab");
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
  }
  assert.fail(`Tab never reaches ${selector}`);
}

export const tests = [
  ...everywhere("the lab, by click", async ({ page, url, check }) => {
    await page.goto(url);
    await page.getByRole("heading", { name: "Watch a filter think" }).waitFor();
    await page.locator(".drawing svg").waitFor();
    assert.match(await says(page), /dianping/);
    assert.equal(await page.locator(".story li").count(), 3);
    await check("the lab at first");

    // The drawing shows the bits that the library has.
    const told = await post(page, "lab", { filter: { kind: "bloom", bits: 64, probes: 3 }, seed: 1, events: [["insert", "baidu"], ["insert", "tencent"]] });
    const bits = told.frames[1].cells;
    const drawn = await page.locator(".drawing .cell").evaluateAll((cells) => cells.map((cell) => (/: set/.test(cell.getAttribute("aria-label")) ? "1" : "0")).join(""));
    assert.equal(drawn, bits);

    await page.getByLabel("Word").fill("wren");
    await page.getByRole("button", { name: "Put in", exact: true }).click();
    await waitSays(page, "wren is in");
    await page.getByRole("button", { name: "Provoke a false positive" }).click();
    await waitSays(page, "A false positive:");
    await check("after a false positive");
    const step = page.getByRole("button", { name: "One step back" });
    await step.click();
    await step.click();
    assert.match(await page.locator(".where").innerText(), /step 2 of 4/);
    await page.getByRole("button", { name: "To the beginning" }).click();
    assert.match(await says(page), /empty filter/i);
    assert.equal(await page.locator(".drawing .cell.on").count(), 0);
    await page.getByRole("button", { name: "To the end" }).click();
    await page.getByRole("button", { name: "Reset" }).click();
    await page.waitForFunction(() => document.querySelectorAll(".story li").length === 3);
  }),

  { name: "clearing bits denies another key, and counters mend it", use: async ({ page, url, check }) => {
    await page.goto(url);
    // With 8 of 64 bits each, a word that shares one with wren is soon found.
    let other = null;
    for (let i = 0; i < 50 && other === null; i += 1) {
      const events = [["insert", "wren"], ["insert", `robin${i}`], ["clear", `robin${i}`], ["ask", "wren"]];
      const { frames } = await post(page, "lab", { filter: { kind: "bloom", bits: 64, probes: 8 }, seed: 1, events });
      if (frames[3].outcome === "lost") other = `robin${i}`;
    }
    await page.goto(`${url}#/lab?filter=bloom&bits=64&probes=8&e=iwren&e=i${other}&e=c${other}&e=awren`);
    await waitSays(page, "wren is denied, although it was put in");
    await check("a key denied");
    await page.getByRole("radio", { name: "Counting" }).check();
    await page.waitForFunction(() => document.querySelectorAll(".drawing .digit").length === 128);
    await page.getByLabel("Word").fill(other);
    await page.getByRole("button", { name: "Take out" }).click();
    await waitSays(page, `${other} is out`);
    await page.getByLabel("Word").fill("wren");
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await waitSays(page, "Maybe: wren may be inside");
    await check("counters");
  } },

  { name: "a blocked filter touches one line", use: async ({ page, url, check }) => {
    await page.goto(url);
    await page.getByRole("radio", { name: "Blocked" }).check();
    await page.waitForFunction(() => document.querySelectorAll(".line-frame").length === 3);
    assert.equal(await page.locator(".line-frame.touched").count(), 1);
    await check("blocked");
  } },

  ...everywhere("cuckoos kick each other out", async ({ page, url, check, width }) => {
    const birds = ["wren", "robin", "swift", "heron", "rook", "plover", "dunlin", "siskin", "linnet", "jackdaw", "pipit", "curlew"];
    const story = birds.map((bird) => `&e=i${bird}`).join("");
    await page.goto(`${url}#/lab?filter=cuckoo&nests=2&slots=1&buckets=24&width=8${story}`);
    await page.locator(".nest").first().waitFor();
    assert.equal(await page.locator(".nest").count(), 24);
    // Until the engine tells of a kick; 12 keys in 24 single slots are about as many as fit.
    const events = birds.map((bird) => ["insert", bird]);
    let kicked = -1;
    for (let more = 0; more < 40 && kicked < 0; more += 1) {
      const { frames } = await post(page, "lab", { filter: { kind: "cuckoo", nests: 2, slots: 1, buckets: 24, width: 8 }, seed: 1, events });
      kicked = frames.findIndex((frame) => frame.steps.some(({ did }) => did === "moved"));
      events.push(["insert", `bird${more}`]);
    }
    assert.ok(kicked >= 0, "nobody was kicked");
    const told = events.map(([, key]) => `&e=i${key}`).join("");
    await page.goto(`${url}#/lab?filter=cuckoo&nests=2&slots=1&buckets=24&width=8${told}&at=${kicked}.2`);
    await page.locator(".flight").waitFor();
    assert.match(await says(page), /is kicked from nest \d+ to nest \d+/);
    await check(`a kick, ${width}`);
    await page.getByRole("button", { name: "One step on" }).click();
    await page.getByText("Kicks, as the nests fill up").waitFor();
    await page.locator(".fill-view .curve").first().waitFor();
    assert.equal(await page.locator(".fill-view .curve").count(), 6);
    await check(`nests and curves, ${width}`);
  }),

  { name: "the lab, by keyboard", use: async ({ page, url, check }) => {
    await page.goto(url);
    await page.locator(".drawing svg").waitFor();
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the content");
    await tabTo(page, "#word");
    await page.keyboard.type("heron");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelectorAll(".story li").length === 4);
    await tabTo(page, ".drawing .cell");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /^bit 2:/);
    await tabTo(page, ".player button.primary");
    await page.keyboard.press("Enter");
    await tabTo(page, ".story li button");
    await page.keyboard.press("Enter");
    await waitSays(page, "baidu is in");
    await check("by keyboard");
    await page.getByRole("radio", { name: "Bloom" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => document.querySelectorAll(".line-frame").length === 3);
  } },

  { name: "a link restores the lab", use: async ({ page, url }) => {
    await page.goto(`${url}#/lab?filter=bloom&bits=128&probes=4&seed=9&e=ia%26b%3D%C3%A9&e=azz&at=1.1`);
    await page.locator(".drawing svg").waitFor();
    assert.match(await page.locator(".where").innerText(), /event 2 of 2, step 2 of 4/);
    await page.getByRole("button", { name: "One step back" }).click();
    const link = page.url();
    const seen = await page.locator(".drawing").innerHTML();
    await page.goto("about:blank");
    await page.goto(link);
    await page.locator(".drawing svg").waitFor();
    assert.equal(await page.locator(".drawing").innerHTML(), seen);
    assert.equal(await page.locator(".story .key").first().innerText(), "a&b=é");
    // Nonsense in a link is not believed.
    await page.goto(`${url}#/lab?filter=cuckoo&nests=77&slots=x&buckets=-3&width=1e9&at=9.9&e=i`);
    await page.locator(".nest").first().waitFor();
  } },

  { name: "playing goes to the end by itself, and is animated where that is wanted", motion: "no-preference", use: async ({ page, url }) => {
    await page.goto(`${url}#/lab?filter=bloom&bits=64&probes=3&e=iwren&at=-1.0`);
    await page.getByRole("button", { name: "Play" }).click();
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await waitSays(page, "wren is in");
    await page.getByRole("button", { name: "Play" }).waitFor();
  } },

  ...everywhere("the plan", async ({ page, url, check }) => {
    await page.goto(url);
    await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Plan" }).click();
    await page.getByRole("heading", { name: /Take blocked bloom/ }).waitFor();
    await page.locator(".pictures .curve").first().waitFor();
    assert.equal(await page.locator(".pictures figure").count(), 3);
    await check("the plan");
    await page.getByLabel("Keys are taken out again").check();
    await page.getByRole("heading", { name: /Take cuckoo/ }).waitFor();
    await page.getByLabel("Keys", { exact: true }).fill("250k");
    await page.keyboard.press("Tab");
    await page.getByText(/for 250,000 keys/).waitFor();
    const told = await page.evaluate(() => fetch("api/plan?items=250000&deletes=true").then((r) => r.json()));
    const rows = await page.locator("tbody tr th").allInnerTexts();
    assert.deepEqual(rows.map((row) => row.trim()), told.choices.map(({ family }) => family));
    assert.match(await page.locator(".best .command code").first().innerText(), /^gowk build .* --family cuckoo --fpp 0.01 --items 250000$/);
    await page.getByLabel("Old keys are forgotten").check();
    await page.getByText("No family does all of this at once").waitFor();
    await check("no plan");
  }),

  { name: "the plan, by keyboard", use: async ({ page, url }) => {
    await page.goto(`${url}#/plan?items=1000000`);
    await page.locator(".pictures .curve").first().waitFor();
    await page.getByLabel("False positives, slider").focus();
    const before = await page.getByLabel("False positives", { exact: true }).inputValue();
    for (let i = 0; i < 20; i += 1) await page.keyboard.press("ArrowLeft");
    assert.notEqual(await page.getByLabel("False positives", { exact: true }).inputValue(), before);
    await page.locator("figure svg").first().focus();
    const read = () => page.locator("figure .legend").first().innerText();
    const first = await read();
    for (let i = 0; i < 5; i += 1) await page.keyboard.press("ArrowRight");
    assert.notEqual(await read(), first);
    await page.getByLabel("Keys", { exact: true }).fill("many");
    await page.keyboard.press("Tab");
    assert.equal(await page.getByLabel("Keys", { exact: true }).getAttribute("aria-invalid"), "true");
  } },

  { name: "values are read under the mouse, and pictures are saved", scheme: "dark", use: async ({ page, url, folder }) => {
    await page.goto(`${url}#/plan?items=1000000&fpp=0.01`);
    await page.locator(".pictures .curve").first().waitFor();
    const told = await page.evaluate(() => fetch("api/plan?items=1000000&fpp=0.01&static=true").then((r) => r.json()));
    const bits = told.choices.find(({ family }) => family === "blocked bloom").bits_per_key;
    assert.match(await page.locator("figure .legend").first().innerText(), new RegExp(`blocked bloom ${bits.toFixed(2)}`));
    await page.locator("figure svg").first().scrollIntoViewIfNeeded();
    const box = await page.locator("figure svg").first().boundingBox();
    await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2);
    await page.waitForFunction(() => document.querySelectorAll("figure .cross").length === 1);
    for (const name of ["What a rate costs", "What becomes of it", "How many bits a key"]) {
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: new RegExp(`Save .${name}`) }).click()]);
      const file = path.join(folder, download.suggestedFilename());
      await download.saveAs(file);
      const svg = fs.readFileSync(file, "utf8");
      assert.ok(svg.startsWith("<svg") && svg.includes("<polyline") && !svg.includes("var(") && !svg.includes("class="), download.suggestedFilename());
      // It stands on its own: opened as a file it has colours.
      await page.context().newPage().then(async (other) => {
        await other.goto(`file://${file}`);
        const stroke = await other.evaluate(() => getComputedStyle(document.querySelector("polyline")).stroke);
        assert.match(stroke, /^rgb|^oklab|^color/);
        await other.close();
      });
    }
  } },

  ...everywhere("a filter of the folder", async ({ page, url, check, expectRefusal }) => {
    await page.goto(url);
    await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Inspect" }).click();
    await page.getByText("No filter is open").waitFor();
    await check("nothing is open");
    await page.getByRole("button", { name: /^monday.gowk/ }).click();
    await page.getByRole("heading", { name: "monday.gowk" }).waitFor();
    assert.match(await page.locator(".numbers").innerText(), /promised\s*1 %/);
    await page.locator(".heat-cell").first().waitFor();
    await check("a filter");
    await page.getByLabel("Keys, one a line").fill("user-1\nuser-2999\nstranger-1");
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await page.getByText("2 of 3 may be inside").waitFor();
    assert.deepEqual(await page.locator(".answers .tag").allInnerTexts(), ["maybe", "maybe", "surely not"]);
    await page.getByRole("button", { name: /^tuesday.gowk/ }).click();
    await page.locator(".venn").waitFor();
    const [, both] = (await page.locator(".venn").getAttribute("aria-label")).match(/both ([\d,]+)/);
    assert.ok(Math.abs(Number(both.replaceAll(",", "")) - 2000) < 150, both);
    await check("two filters");
    await page.getByRole("button", { name: /^others, a folder/ }).click();
    await page.getByRole("button", { name: /^guava.bin/ }).click();
    await page.getByRole("heading", { name: "others/guava.bin" }).waitFor();
    assert.match(await page.locator(".tag").first().innerText(), /Guava/);
    await page.getByText("None of the others is a").waitFor();
    await expectRefusal(async () => {
      await page.getByLabel("with", { exact: true }).selectOption({ label: "monday.gowk" });
      await page.locator(".error", { hasText: "cannot be compared" }).waitFor();
    });
  }),

  { name: "a file is dropped, and a hostile one is only words", use: async ({ page, url, folder, check, expectRefusal }) => {
    await page.goto(`${url}#/inspect`);
    await page.getByLabel("Choose a file").setInputFiles(path.join(folder, "filters/nests.gowk"));
    await page.getByRole("heading", { name: "nests.gowk" }).waitFor();
    await page.getByText("Fill, bucket by bucket").waitFor();
    await expectRefusal(async () => {
      await page.getByLabel("Choose a file").setInputFiles(path.join(folder, "cut.gowk"));
      await page.locator(".error", { hasText: "cannot open cut.gowk" }).waitFor();
      await page.getByRole("button", { name: /^<img/ }).click();
      await page.locator(".error", { hasText: "<img src=x onerror=alert(1)>.gowk" }).waitFor();
    });
    assert.equal(await page.locator("main img").count(), 0);
    // What was open before stays.
    assert.equal(await page.getByRole("heading", { name: "nests.gowk" }).count(), 1);
    await check("an error");
    // By the mouse as well: the drop itself.
    const data = await page.evaluateHandle((bytes) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([new Uint8Array(bytes)], "dropped.gowk"));
      return transfer;
    }, [...fs.readFileSync(path.join(folder, "filters/monday.gowk"))]);
    await page.locator(".drop").dispatchEvent("dragover", { dataTransfer: data });
    await page.locator(".drop").dispatchEvent("drop", { dataTransfer: data });
    await page.getByRole("heading", { name: "dropped.gowk" }).waitFor();
  } },

  ...everywhere("a filter on servers", async ({ page, url, check, expectRefusal, password }) => {
    const told = [];
    page.on("response", async (response) => response.url().includes("/api/") && told.push(await response.text().catch(() => "")));
    await page.goto(`${url}#/inspect`);
    const card = page.getByRole("region", { name: "Filters on servers" });
    await card.getByRole("button", { name: /^visits, blocked bloom/ }).click();
    await page.getByRole("heading", { name: "visits" }).waitFor();
    assert.match(await page.locator(".numbers").innerText(), /promised\s*1 %/);
    assert.match(await page.locator(".head-rows").innerText(), /servers\s*127\.0\.0\.1:\d+/);
    await page.getByText("Fill, shard by shard").waitFor();
    await check("a filter on servers");
    await page.getByLabel("Keys, one a line").fill("user-1\nuser-2999\nstranger-1");
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await page.getByText("2 of 3 may be inside").waitFor();
    assert.match(page.url(), /server=visits/);
    await card.getByRole("button", { name: /^carts, counting bloom/ }).click();
    await page.getByRole("heading", { name: "carts" }).waitFor();
    await page.getByLabel("Keys, one a line").fill("user-99\nuser-100000");
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await page.getByText("1 of 2 may be inside").waitFor();
    await page.getByText("looked at where it is").waitFor();
    // A link brings it back; one to what is not there is told.
    await page.goto("about:blank");
    await page.goto(`${url}#/inspect?server=visits&keeper=bloom`);
    await page.getByRole("heading", { name: "visits" }).waitFor();
    await expectRefusal(async () => {
      await page.goto("about:blank");
      await page.goto(`${url}#/inspect?server=nobody&keeper=bloom`);
      await page.locator(".error", { hasText: 'there is no filter "nobody"' }).waitFor();
    });
    assert.ok(told.length > 5 && told.every((text) => !text.includes(password)), "the password is seen");
    assert.ok(!(await page.content()).includes(password));
  }),

  { name: "servers that cannot be reached are named, without the password", use: async ({ page, url, redis, password, expectRefusal }) => {
    await page.goto(`${url}#/inspect`);
    const card = page.getByRole("region", { name: "Filters on servers" });
    await card.getByRole("button", { name: /^visits/ }).waitFor();
    // As if it were slow without end.
    redis.child.kill("SIGSTOP");
    try {
      await expectRefusal(async () => {
        await card.getByRole("button", { name: "Look again" }).click();
        await card.getByRole("alert").waitFor();
      });
    } finally {
      redis.child.kill("SIGCONT");
    }
    assert.ok(!(await page.content()).includes(password));
    await card.getByRole("button", { name: "Look again" }).click();
    await card.getByRole("button", { name: /^visits/ }).waitFor();
  } },

  ...everywhere("columns of a Parquet file are chosen", async ({ page, url, folder, check }) => {
    await page.goto(`${url}#/inspect?file=others/people.parquet`);
    await page.getByRole("heading", { name: "others/people.parquet" }).waitFor();
    assert.deepEqual(await page.getByLabel("Column").locator("option").allInnerTexts(), ["id", "name"]);
    await page.getByLabel("Keys, one a line").fill("1000\n1399\n5");
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await page.getByText("2 of 3 may be inside").waitFor();
    await check("a column");
    await page.getByLabel("Column").selectOption("name");
    await page.waitForFunction(() => document.querySelector("#column")?.value === "name" && document.querySelector("#key-type")?.value === "text");
    await page.getByLabel("Keys, one a line").fill("user-0\nuser-399\nnobody");
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await page.getByText("2 of 3 may be inside").waitFor();
    // Of a dropped file as well.
    await page.getByLabel("Choose a file").setInputFiles(path.join(folder, "filters/others/people.parquet"));
    await page.getByRole("heading", { name: "people.parquet", exact: true }).waitFor();
    await page.getByLabel("Column").selectOption("name");
    await page.waitForFunction(() => document.querySelector("#column")?.value === "name" && document.querySelector("#key-type")?.value === "text");
  }),

  { name: "inspect, by keyboard", width: 400, scheme: "dark", use: async ({ page, url }) => {
    await page.goto(`${url}#/inspect?file=monday.gowk`);
    await page.getByRole("heading", { name: "monday.gowk" }).waitFor();
    await tabTo(page, "#keys");
    await page.keyboard.type("user-5");
    await tabTo(page, "form button.primary");
    await page.keyboard.press("Enter");
    await page.getByText("1 of 1 may be inside").waitFor();
    await tabTo(page, ".heat-cell");
    await page.keyboard.press("ArrowRight");
    assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /^line 1: .* of the bits$/);
  } },

  { name: "colours can be chosen, and stay chosen", use: async ({ page, url, check }) => {
    await page.goto(`${url}#/plan`);
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await paper();
    const button = page.locator("#theme");
    await button.click();
    assert.equal(await paper(), light);
    await button.click();
    const dark = await paper();
    assert.notEqual(dark, light);
    await page.reload();
    await page.getByRole("heading", { name: /Take/ }).waitFor();
    assert.equal(await paper(), dark);
    await check("dark by choice");
  } },

  { name: "the first picture is there soon", use: async ({ page, url }) => {
    await page.goto(url);
    await page.locator(".drawing svg").waitFor();
    const files = await page.evaluate(() => performance.getEntriesByType("resource").reduce((sum, one) => sum + one.decodedBodySize, 0));
    // Small enough to be there at once, even on a slow machine: no picture, font or framework is loaded.
    assert.ok(files < 200_000, `${files} bytes`);
  } },
];
