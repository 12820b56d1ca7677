/** The commands that alerts, configurations and guides name exist, with their options. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { expect, test } from "vitest";
import { ROOT } from "../../../../../test/support/workspace.ts";
import { EVENT_TYPES } from "../../../src/commands/audit/event-types.ts";
import { createProgram } from "../../../src/program.ts";

const PAGES = [
  "README.md",
  ...["deploy", "docs"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(?:md|ya?ml)$/.test(name))
      .map((name) => `${folder}/${name}`),
  ),
];

/** A command, as a text has it. */
interface Named {
  readonly command: string;
  /** Whether it begins a span of code or a line of a console: elsewhere it may be a sentence about the service. */
  readonly isCode: boolean;
}

/** The commands of a text: what follows `svc-iam` up to the end of a span of code, a line, or a word of a shell. */
function commandsIn(text: string): readonly Named[] {
  // A span may be wrapped.
  const lines = text.replace(/`svc-iam\b[^`\n]*\n[^`\n]*`/g, (span) => span.replace("\n", " "));
  const found = lines.matchAll(
    /(^\$ |`|^|[$ ("])svc-iam ((?:[a-z][\w-]* )*[a-z][\w-]*[^`\n|;&)#]*)/gm,
  );
  return [...found].map(([, before = "", command = ""]) => ({
    command,
    isCode: before === "`" || before === "$ ",
  }));
}

/** What is wrong with a command; undefined if nothing is, or it is not a command but a part of a sentence. */
function problemOf({ command: text, isCode }: Named): string | undefined {
  const words = text.trim().split(/\s+/);
  let command: Command = createProgram();
  const descend = () => {
    const next = command.commands.find((one) => one.name() === words[0]);
    if (next !== undefined) [command] = [next, words.shift()];
    return next !== undefined;
  };
  if (!descend()) return isCode ? `${text}: no command ${words[0]}` : undefined;
  while (descend());
  const [next = ""] = words;
  if (command.commands.length > 0 && /^[a-z]/.test(next)) {
    return `${text}: ${command.name()} has no command ${next}`;
  }
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
  ["nope", "no command nope"],
  ["sesion end --user alice", "no command sesion"],
  ["user nope alice", "user has no command nope"],
  ["session ends --user alice", "session has no command ends"],
])("%s is found to be wrong", (command, problem) => {
  expect(commandsIn(`run \`svc-iam ${command}\``).map(problemOf)).toEqual([
    `${command}: ${problem}`,
  ]);
});

test("a mention of the service or of a group of commands is right", () => {
  const text = "svc-iam refuses it; `svc-iam user` and `svc-iam audit --help` list commands";
  expect(commandsIn(text).map(problemOf).filter(Boolean)).toEqual([]);
});

test("a span that is wrapped is one command", () => {
  expect(commandsIn("see `svc-iam session\nends` there").map(problemOf)).toEqual([
    "session ends: session has no command ends",
  ]);
});

test("a line of a console is read as a command", () => {
  expect(commandsIn("$ svc-iam nope").map(problemOf)).toEqual(["nope: no command nope"]);
});

test.each(PAGES)("%s names commands and options that exist", (page) => {
  const text = readFileSync(join(ROOT, page), "utf8");
  expect(commandsIn(text).map(problemOf).filter(Boolean)).toEqual([]);
});

test("the alert on logins names a command", () => {
  const text = readFileSync(join(ROOT, "deploy/monitoring/alerts-iam.yaml"), "utf8");
  expect(commandsIn(text.replace(/\s+/g, " ")).map(({ command }) => command)).toContain(
    "audit query --event login.failed --format json",
  );
});
