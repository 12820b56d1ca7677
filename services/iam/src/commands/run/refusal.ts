import { CommandError } from "./command-error.ts";

/** What a person can do whose call a server refuses; the message of the others says it. */
const FIXES: Readonly<Record<string, string>> = {
  FORBIDDEN: "log in as somebody who may do this (svc-iam login), or ask an owner for the right",
  RESOURCE_NOT_FOUND: "check the id: the list of the same command shows what there is",
  ALREADY_EXISTS: "choose another name, or change what exists",
  RATE_LIMITED: "wait some seconds, and repeat the command",
  UNAVAILABLE: "repeat the command; if it fails again, look at the database and the other servers",
  DEADLINE_EXCEEDED:
    "repeat the command; if it fails again, look at /readyz and the log of the server",
  INTERNAL: "look for the error in the log of the server",
  UNIMPLEMENTED: "check the version of the server, and its identity provider",
};

/** Refusals for which the fix of their code is not the right one; empty if there is none. */
const OTHER_FIXES: readonly (readonly [RegExp, string])[] = [
  [
    /is written by CreateGroup and MoveGroup only/,
    "use svc-iam group create --parent or svc-iam group move",
  ],
  [/only its service writes it/, ""],
  [/^the position is malformed/, "write one that svc-iam audit follow --format json has printed"],
  [
    /the last enabled user who owns the zone/,
    "make another user an owner first: svc-iam relationship write zone:<zone>#owner@user:<user>",
  ],
];

/** The refusal of a server, and what the person can do. */
export function refusalText({
  code,
  message,
}: {
  readonly code: string;
  readonly message: string;
}): string {
  if (code === "UNAUTHORIZED") {
    return `the server does not accept the login (${message}): run svc-iam login`;
  }
  const other = OTHER_FIXES.find(([words]) => words.test(message))?.[1];
  const fix = other ?? FIXES[code] ?? "";
  return `${message} (${code})${fix === "" ? "" : `: ${fix}`}`;
}

/**
 * The result of a call; a refusal with a code says what to do in the words of the command.
 *
 * @throws CommandError for a refusal with this code
 */
export async function advising<Result>(
  call: Promise<Result>,
  refused: string,
  advice: string,
): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    const { code, message } = error as Error & { readonly code?: unknown };
    if (code !== refused) throw error;
    throw new CommandError(`${message} (${refused}): ${advice}`, { cause: error });
  }
}
