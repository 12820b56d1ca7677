import { describe, expect, test } from "vitest";
import { html } from "../../src/pages/html.ts";
import { acceptedLanguages, languageOf, uiLocales } from "../../src/pages/languages.ts";
import german from "../../src/pages/messages/de.json" with { type: "json" };
import { PageDesign } from "../../src/pages/page-design.ts";
import { Texts } from "../../src/pages/texts.ts";
import {
  avatarUrlProblem,
  displayNameProblem,
  emailProblem,
} from "../../src/people/accounts/account-texts.ts";
import { passwordProblem } from "../../src/people/accounts/passwords/password-rules.ts";
import { usernameProblem } from "../../src/people/accounts/username-problem.ts";

test.each<[header: string, wishes: readonly string[]]>([
  ["", [""]],
  [";;;=,q=1", ["q=1"]],
  ["de;q=x, en", ["en"]],
  ["de;q=0", []],
  ["de;q=9", []],
  ["fr, de;q=0.5, en;q=0.8", ["fr", "en", "de"]],
  ["de-AT,de;q=0.9", ["de-AT", "de"]],
])("Accept-Language %j wishes %j", (header, wishes) => {
  expect(acceptedLanguages(header)).toEqual(wishes);
});

test("an endless list of languages is read in part", () => {
  expect(acceptedLanguages("aa,".repeat(100_000)).length).toBeLessThan(200);
  expect(uiLocales("aa ".repeat(100_000)).length).toBeLessThan(200);
});

test.each<[locales: unknown, header: string, language: string]>([
  [null, "", "en"],
  [null, "fr, *", "en"],
  [null, "__proto__", "en"],
  [null, "DE-ch", "de"],
  ["de", "en", "de"],
  ["fr de-AT", "en", "de"],
  ["fr", "de", "de"],
  [["de"], "", "en"],
])(
  "with ui_locales %j and Accept-Language %j a page is in %s [PAGE-3]",
  (locales, header, language) => {
    const headers = { all: () => [header] };
    const view = new PageDesign().view({ headers, query: new URLSearchParams() }, {}, locales);
    expect(view.texts.language).toBe(language);
  },
);

test("no wish is of a language that the pages have", () => {
  expect(languageOf(["", "-de", "english", "d"])).toBeUndefined();
});

describe("texts in German", () => {
  const { say, translate, date } = new Texts("de");

  test("escape their values, unless they are HTML [PAGE-8]", () => {
    const values = { client: "<b>&", username: html`<i>${"<"}</i>` };
    expect(say("{client} asks {username} for:", values).text).toBe(
      "&lt;b&gt;&amp; bittet <i>&lt;</i> um:",
    );
  });

  test.each(Object.entries(german))("%j has the same values [PAGE-3]", (english, text) => {
    const names = (one: string) => [...one.matchAll(/\{\w+\}/g)].map(([name]) => name).sort();
    expect(names(text)).toEqual(names(english));
    expect(text).not.toBe("");
  });

  test("one that is not known remains English, also with a hostile name", () => {
    for (const text of ["something else", "constructor", "__proto__"]) {
      expect(translate(text).text).toBe(text);
    }
  });

  test("times are those of the time zone", () => {
    expect(date(Date.UTC(2026, 0, 2, 23, 30), "Europe/Berlin")).toContain("03.01.2026, 00:30");
  });

  test.each<[string, () => string | undefined | Promise<string | undefined>]>([
    ["a missing user name", () => usernameProblem("")],
    ["a long user name", () => usernameProblem("x".repeat(65))],
    ["a wrong user name", () => usernameProblem("-x")],
    ["an invisible user name", () => usernameProblem("x\u3164")],
    ["a user name with a ligature", () => usernameProblem("ﬁx")],
    ["a missing name", () => displayNameProblem(" ")],
    ["a long name", () => displayNameProblem("x".repeat(129))],
    ["an invisible name", () => displayNameProblem("\u3164")],
    ["a name with controls", () => displayNameProblem("\u0007")],
    ["a missing address", () => emailProblem("")],
    ["a long address", () => emailProblem(`${"x".repeat(250)}@example.com`)],
    ["a wrong address", () => emailProblem("x@")],
    ["a wrong URL", () => avatarUrlProblem("http://x")],
    ["a long URL", () => avatarUrlProblem(`https://x/${"x".repeat(2048)}`)],
    ["a URL with a password", () => avatarUrlProblem("https://a:b@x/")],
    ...["short", "x".repeat(513), "\u0001bcdefghijklm", "\ud800bcdefghijkl", "aaaaaaaaaaaa"].map(
      (text) =>
        [`the password ${JSON.stringify(text).slice(0, 20)}`, () => problemOf(text)] as const,
    ),
    ["the user name as password", () => problemOf("alicealicealice")],
    ["a common password", () => problemOf("password1234")],
  ] as [string, () => string][])("the problem of %s is translated", async (_, problem) => {
    const text = (await problem()) ?? "";
    expect(text).not.toBe("");
    expect(translate(text).text).not.toBe(html`${text}`.text);
  });
});

function problemOf(password: string) {
  return passwordProblem(password, { username: "alice", email: "alice@example.com" });
}
