import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect } from "vitest";
import type { Device, Tab } from "../../../../../test/support/browser/tab.ts";
import { MESSAGES } from "../../../src/pages/messages/messages.ts";
import { AUDITED_PAGES } from "./audited-pages.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const DEVICES: readonly Device[] = [320, 1280].flatMap((width) => [
  { width, scheme: "light" } as const,
  { width, scheme: "dark" } as const,
]);

/**
 * Checks the page of a tab with axe, on a phone and a desktop, light and dark: no finding, and nothing
 * that is wider than the window. With `SVC_IAM_SHOTS`, pictures of it are written to that folder.
 *
 * @param name of `AUDITED_PAGES`, whose title the page has
 * @param scripts whether pages after it run scripts
 */
export async function auditPage(tab: Tab, name: string, scripts = false): Promise<void> {
  // axe itself needs scripts; those of the page have run by now, or not.
  await tab.allowScripts(true);
  await expectTitle(tab, name);
  const shots = process.env["SVC_IAM_SHOTS"];
  for (const device of DEVICES) {
    await tab.show(device);
    const at = `${name} at ${device.width} px, ${device.scheme}`;
    if (shots !== undefined) {
      mkdirSync(shots, { recursive: true });
      const file = `${name.replaceAll(" ", "-")}-${device.width}-${device.scheme}.png`;
      writeFileSync(join(shots, file), await tab.picture());
    }
    const widths = await tab.evaluate("[document.documentElement.scrollWidth, innerWidth]");
    const [content = 0, window = 0] = widths as number[];
    expect(content, `the width of ${at}`).toBeLessThanOrEqual(window);
    expect(await findingsOf(tab), at).toEqual([]);
  }
  await tab.allowScripts(scripts);
}

/** What axe finds, as short texts. */
async function findingsOf(tab: Tab): Promise<readonly string[]> {
  if (!(await tab.evaluate("typeof axe === 'object'"))) await tab.evaluate(`${AXE};0`);
  return tab.evaluate(`axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => id + ": " + html + " " + failureSummary)))`);
}

/** In whichever language. */
async function expectTitle(tab: Tab, name: string): Promise<void> {
  const [, title] = AUDITED_PAGES[name] ?? expect.fail(`${name} is missing in AUDITED_PAGES`);
  const shown = await tab.evaluate<string>('document.querySelector("h1").innerText');
  const all = Object.values(MESSAGES).map((texts: Readonly<Record<string, string>> = {}) => texts);
  const fits = [title, ...all.map((texts) => texts[title] ?? "")].some((text) => {
    const [before = "", after] = text.split(/\{\w+\}/);
    return after === undefined ? shown === text : shown.startsWith(before) && shown.endsWith(after);
  });
  expect(fits, `the title of ${name} is ${title}: ${shown}`).toBe(true);
}
