/** How pages say how long somebody must wait. */
import { expect, test } from "vitest";
import { errorPage } from "../../src/pages/error-pages.ts";
import { Texts } from "../../src/pages/texts.ts";
import { waitText } from "../../src/pages/wait-text.ts";

const SECONDS = "There were too many attempts. Try again in {seconds} s.";
const MINUTES = "There were too many attempts. Try again in {minutes} minutes.";

test.each<[seconds: number, text: string, values: object]>([
  [1, SECONDS, { seconds: 1 }],
  [119, SECONDS, { seconds: 119 }],
  [120, MINUTES, { minutes: 2 }],
  [121, MINUTES, { minutes: 3 }],
  [885, MINUTES, { minutes: 15 }],
  [900, MINUTES, { minutes: 15 }],
  [901, MINUTES, { minutes: 16 }],
])("a wait of %d s is %j with %j [PAGE-2]", (seconds, text, values) => {
  expect(waitText(SECONDS, seconds)).toEqual({ text, values });
});

test.each([
  ["en", 62, "Try again in 62 s."],
  ["en", 885, "Try again in 15 minutes."],
  ["de", 62, "Versuchen Sie es in 62 s noch einmal."],
  ["de", 885, "Versuchen Sie es in 15 Minuten noch einmal."],
] as const)("in %s, the page of a rate limit of %d s says: %s [PAGE-3]", (language, wait, text) => {
  const error = { code: "RESOURCE_EXHAUSTED", status: 429, retryAfterSeconds: wait } as const;
  expect(errorPage(error)(new Texts(language)).body.text).toBe(`<p>${text}</p>`);
});
