import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { field } from "../../src/pages/form-parts.ts";
import { html } from "../../src/pages/html.ts";
import { PageDesign } from "../../src/pages/page-design.ts";
import { readPageDesign } from "../../src/pages/read-page-design.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-iam-pages-"));
afterAll(() => rmSync(folder, { recursive: true }));

const visit = { headers: { all: () => [] }, query: new URLSearchParams() };
const page = () => ({ title: html`Title`, body: html`<p>Body</p>` });
const shown = (design: PageDesign, status = 200) =>
  design.view(visit, { requestId: "the-id" }).response(status, page);

function fileOf(content: string | Buffer): string {
  const file = join(folder, `${Math.random()}`);
  writeFileSync(file, content);
  return file;
}

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"></svg>';
const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

describe("a logo [PAGE-6]", () => {
  test.each<[string, () => string, string]>([
    ["that does not exist", () => join(folder, "none.png"), "cannot be read"],
    ["that is a folder", () => folder, "cannot be read"],
    ["that is HTML", () => fileOf("<html><svg></svg>"), "is not a PNG, JPEG or WebP picture"],
    ["that is empty", () => fileOf(""), "is not a PNG, JPEG or WebP picture"],
    ["that only begins as a PNG", () => fileOf(PNG.subarray(0, 12)), "is not a PNG"],
    ["that is SVG without its namespace", () => fileOf("<svg></svg>"), "nor SVG with xmlns="],
    ["that has a comment without an end", () => fileOf(`<!-- ${SVG}`), "is not a PNG"],
    ["that has a document type without an end", () => fileOf("<!DOCTYPE svg ["), "is not a PNG"],
    [
      "that is HTML after many comments",
      () => fileOf(`${"<!-- a -->\n".repeat(4000)}<html>`),
      "is not a PNG",
    ],
    ["that is large", () => fileOf(Buffer.alloc(65_537)), "has more than 65536 bytes"],
  ])("%s is refused at the start, with the fix", (_, file, problem) => {
    expect(() => readPageDesign({ name: "Acme", logo_file: file() })).toThrow(
      expect.objectContaining({ message: expect.stringContaining(problem) }),
    );
  });

  test.each<[string, Buffer]>([
    ["image/png", PNG],
    ["image/jpeg", Buffer.from("ffd8ffe0", "hex")],
    ["image/webp", Buffer.from("RIFF0000WEBPVP8 ")],
    ["image/svg+xml", Buffer.from(`<?xml version="1.0"?><!-- x -->${SVG}`)],
    ["image/svg+xml", Buffer.from(`\ufeff<!-- x -->\n<!-- y -->${SVG}`)],
    [
      "image/svg+xml",
      Buffer.from(`<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x.dtd">\n${SVG}`),
    ],
    ["image/svg+xml", Buffer.from(`<!DOCTYPE svg [ <!ENTITY a ">"> ]>\n${SVG}`)],
    ["image/svg+xml", Buffer.from(SVG.replace("<svg xmlns", "<s:svg xmlns:s"))],
    ["image/svg+xml", Buffer.from(`\ufeff${SVG}`, "utf16le")],
    ["image/svg+xml", Buffer.from(`\ufeff${SVG}`, "utf16le").swap16()],
  ])("of type %s is a part of the pages, which may show no other picture", (type, content) => {
    const response = shown(readPageDesign({ name: "Acme", logo_file: fileOf(content) }));
    const source = `data:${type};base64,${content.toString("base64")}`;
    expect(response.body).toContain(`<img src="${source}" alt="">`);
    expect(response.headers?.["Content-Security-Policy"]).toContain("img-src 'self' data:;");
  });
});

test("a page has the name of the product, its language, and no id [PAGE-6]", () => {
  const { headers, body } = shown(readPageDesign({ name: "<Acme>" }));
  expect(body).toContain("<title>Title – &lt;Acme&gt;</title>");
  expect(body).toContain('<html lang="en">');
  expect(body).not.toContain("the-id");
  expect(headers).toMatchObject({ "Content-Language": "en", "Cache-Control": "no-store" });
  expect(headers?.["Content-Security-Policy"]).toContain("img-src 'self';");
  expect(headers?.["Content-Security-Policy"]).not.toContain("script-src");
});

test("an error has the id of its request [PAGE-7]", () => {
  expect(shown(new PageDesign(), 400).body).toContain("Request: <code>the-id</code>");
});

test("a field names its hint and its problem to screen readers [PAGE-2, PAGE-8]", () => {
  const { text } = field({
    name: "x",
    label: html`X`,
    value: `"><script>`,
    hint: html`Hint`,
    problem: html`Wrong`,
  });
  expect(text).toContain('<label for="x">X</label>');
  expect(text).toContain('aria-describedby="x-hint x-problem" aria-invalid="true"');
  expect(text).not.toContain("<script>");
});
