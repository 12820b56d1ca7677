import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { html } from "../../src/pages/html.ts";
import { acceptedLanguages, LANGUAGES, languageOf, uiLocales } from "../../src/pages/languages.ts";
import german from "../../src/pages/messages/de.json" with { type: "json" };
import { MESSAGES } from "../../src/pages/messages/messages.ts";
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
  [null, "tlh, *", "en"],
  [null, "__proto__", "en"],
  [null, "DE-ch", "de"],
  ["de", "en", "de"],
  ["tlh de-AT", "en", "de"],
  ["tlh", "de", "de"],
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

/** What is wrong with the texts of a language, each with its English form. */
function problemsOf(messages: Readonly<Record<string, unknown>>): string[] {
  const valuesOf = (text: string) =>
    [...text.matchAll(/\{[^{}]*\}?/g)].map(([name]) => name).sort();
  const missing = Object.keys(german).filter((english) => !Object.hasOwn(messages, english));
  const wrong = Object.entries(messages).flatMap(([english, text]) => {
    if (!Object.hasOwn(german, english)) return [`no page has: ${english}`];
    if (typeof text !== "string" || text.trim() === "") return [`no text: ${english}`];
    const [those, these] = [valuesOf(english), valuesOf(text)].map((names) => names.join(" "));
    return those === these ? [] : [`${these || "no value"} in place of ${those}: ${english}`];
  });
  return [...missing.map((english) => `missing: ${english}`), ...wrong];
}

const others = LANGUAGES.filter((language) => MESSAGES[language] !== undefined);

test.each(others)("the language %s has each text, with the same values [PAGE-3]", (language) => {
  expect(problemsOf(MESSAGES[language] ?? {})).toEqual([]);
});

test.each(LANGUAGES)("%s is the tag of a language that wishes are matched with", (language) => {
  expect(languageOf([`${language}-001`])).toBe(language);
  expect(new Intl.DisplayNames("en", { type: "language" }).of(language)).not.toBe(language);
});

test("each file of messages is that of a language", () => {
  const folder = join(import.meta.dirname, "../../src/pages/messages");
  const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
  expect(files.sort()).toEqual(others.map((language) => `${language}.json`).sort());
});

test.each<[what: string, change: Readonly<Record<string, unknown>>, problem: string]>([
  ["a number", { Cancel: 7 }, "no text: Cancel"],
  ["nothing", { Cancel: null }, "no text: Cancel"],
  ["an empty text", { Cancel: " " }, "no text: Cancel"],
  ["no text", { Cancel: undefined }, "no text: Cancel"],
  ["a text that no page has", { Cancle: "Annuler" }, "no page has: Cancle"],
  [
    "another value",
    { "Continue to {client}": "Continuer vers {klient}" },
    "{klient} in place of {client}: Continue to {client}",
  ],
  [
    "a value that does not end",
    { "Continue to {client}": "Continuer vers {client" },
    "{client in place of {client}: Continue to {client}",
  ],
  [
    "no value",
    { "Continue to {client}": "Continuer" },
    "no value in place of {client}: Continue to {client}",
  ],
])("a language with %s is refused [PAGE-3]", (_, change, problem) => {
  expect(problemsOf({ ...german, ...change })).toEqual([problem]);
});

test("a language without a text is refused [PAGE-3]", () => {
  const { Cancel, ...rest } = german;
  expect(problemsOf(rest)).toEqual(["missing: Cancel"]);
});

describe("texts in German", () => {
  const { say, translate, date } = new Texts("de");

  test("escape their values, unless they are HTML [PAGE-8]", () => {
    const values = { client: "<b>&", username: html`<i>${"<"}</i>` };
    expect(say("{client} asks {username} for:", values).text).toBe(
      "&lt;b&gt;&amp; bittet <i>&lt;</i> um:",
    );
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
    ["a name with a blank at its end", () => displayNameProblem("x ")],
    ["an invisible name", () => displayNameProblem("\u3164")],
    ["a name with controls", () => displayNameProblem("\u0007")],
    ["a missing address", () => emailProblem("")],
    ["a long address", () => emailProblem(`${"x".repeat(250)}@example.com`)],
    ["an address with a long local part", () => emailProblem(`${"x".repeat(65)}@example.com`)],
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
