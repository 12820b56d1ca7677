/** The commands that alerts, configurations and guides name exist, with their options. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { expect, test } from "vitest";
import { ROOT } from "../../../../../test/support/workspace.ts";
import { EVENT_TYPES } from "../../../src/commands/audit/event-types.ts";
import { createProgram } from "../../../src/program.ts";

const PAGES = ["deploy", "docs"].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:md|ya?ml)$/.test(name))
    .map((name) => `${folder}/${name}`),
);

/** The commands of a text: what follows `svc-iam` up to the end of a span of code, a line, or a word of a shell. */
function commandsIn(text: string): readonly string[] {
  const found = text.matchAll(/(?:^|[`$ ("])svc-iam ((?:[a-z][\w-]* )*[a-z][\w-]*[^`\n|;&)#]*)/gm);
  return [...found].map(([, command = ""]) => command);
}

/** What is wrong with a command; undefined if nothing is, or its first word is not of a command but of a sentence. */
function problemOf(text: string): string | undefined {
  const words = text.trim().split(/\s+/);
  let command: Command = createProgram();
  const descend = () => {
    const next = command.commands.find((one) => one.name() === words[0]);
    if (next !== undefined) [command] = [next, words.shift()];
    return next !== undefined;
  };
  if (!descend()) return undefined;
  while (descend());
  for (const [index, word] of words.entries()) {
    const [flag = ""] = /^--[a-z][a-z-]*/.exec(word) ?? [];
    if (flag === "" || flag === "--help") continue;
    if (!command.options.some(({ long }) => long === flag)) return `${text}: no option ${flag}`;
    const value = words[index + 1] ?? "";
    if (flag === "--event" && !EVENT_TYPES.includes(value)) return `${text}: no event ${value}`;
  }
  return undefined;
}

test.each([
  ["audit query --type login.failed", "no option --type"],
  ["audit query --event login.failed, second_factor.failed", "no event login.failed,"],
  ["audit query --event nope", "no event nope"],
])("%s is found to be wrong", (command, problem) => {
  expect(commandsIn(`run \`svc-iam ${command}\``).map(problemOf)).toEqual([
    `${command}: ${problem}`,
  ]);
});

test.each(PAGES)("%s names commands and options that exist", (page) => {
  const text = readFileSync(join(ROOT, page), "utf8");
  expect(commandsIn(text).map(problemOf).filter(Boolean)).toEqual([]);
});

test("the alert on logins names a command", () => {
  const text = readFileSync(join(ROOT, "deploy/monitoring/alerts-iam.yaml"), "utf8");
  expect(commandsIn(text.replace(/\s+/g, " "))).toContain(
    "audit query --event login.failed --format json",
  );
});
