import type { Connection } from "../connection/connection.ts";
import { othersNamed } from "../connection/names.ts";
import { ifKnown } from "../run/if-known.ts";
import { printable } from "../run/print.ts";
import { say } from "../run/run-command.ts";

/** The most ids that a warning has. */
const MOST = 5;

/** Warns that others have the name that something got: it is not an error, but commands then need ids. */
export async function warnOfSameName(
  connection: Connection,
  type: "group" | "service_account",
  named: { readonly id: string; readonly name: string },
): Promise<void> {
  // What was asked for is done, whether or not the others can be listed.
  const others = (await ifKnown((signal) => othersNamed(connection, type, named, signal))) ?? [];
  if (others.length === 0) return;
  const what = type.replace("_", " ");
  const who = others.length === 1 ? `another ${what} has` : `${others.length} other ${what}s have`;
  const ids = others.slice(0, MOST).join(", ");
  say(
    `warning: ${who} the name ${printable(named.name)}: ${ids}; name them by their ids, or change one`,
  );
}
