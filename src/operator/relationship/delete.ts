import { Command } from "commander";
import type { RelationshipStore } from "../../authz/engine/relationship-store.ts";
import type { RelationshipUpdate } from "../../authz/engine/requests.ts";
import { note, print } from "../../common/note.ts";
import { printable } from "../../common/printable.ts";
import { formatRelationship } from "../../model/relationship-text.ts";
import { OperatorError, wholeNumber } from "../command/flags.ts";
import { readSelection, type Selection, type SelectionFlags, withSelection } from "./selection.ts";

interface DeleteFlags extends SelectionFlags {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly all?: boolean;
  readonly limit?: number;
}

/** The maximum number of relationships in one transaction, which are kept in memory. */
const MAX_DELETED = 100_000;
/** The number of updates in one change, which is the maximum of the engine. */
const CHANGE = 1000;

/** `svc-access relationship delete`. */
export function deleteCommand(): Command {
  return withSelection(
    new Command("delete").description(
      "Deletes all selected relationships, or none; the service must be stopped.",
    ),
  )
    .option("--all", "all relationships of the store, without any other selection")
    .option(
      "--limit <count>",
      `the maximum number of relationships (at most ${MAX_DELETED})`,
      wholeNumber,
    )
    .option("--dry-run", "only show the relationships that would be deleted")
    .option("--yes", "delete it")
    .addHelpText(
      "after",
      `
Examples:
  svc-access relationship delete --store notes.relationships.db --subject user:alice --dry-run
  svc-access relationship delete --store notes.relationships.db --subject user:alice --yes
  svc-access relationship delete --config service.yaml --misfit --yes

It prints the deleted relationships. Watchers are notified as of any write.
Exit codes: 0 deleted, or nothing to delete, 1 not deleted, as --yes is missing, 2 usage, or a
store that cannot be opened.`,
    )
    .action(remove);
}

async function remove(flags: DeleteFlags): Promise<void> {
  const selection = await readSelection(flags);
  if (selection.isAll !== (flags.all === true)) {
    throw new OperatorError(
      selection.isAll
        ? "no relationships are selected: select some, or set --all"
        : "--all and a selection cannot be combined",
    );
  }
  if (flags.limit !== undefined && flags.limit > MAX_DELETED) {
    throw new OperatorError(
      `--limit is at most ${MAX_DELETED}: run the command again for the rest`,
    );
  }
  const { openStore } = await import("./open-embedded-store.ts");
  const store = await openStore(flags);
  try {
    await removeFrom(store, selection, flags);
  } finally {
    await store.close();
  }
}

async function removeFrom(
  store: RelationshipStore,
  selection: Selection,
  { yes = false, dryRun = false, limit }: DeleteFlags,
): Promise<void> {
  const updates = await selected(store, selection, limit ?? MAX_DELETED + 1);
  if (updates.length > MAX_DELETED) {
    throw new OperatorError(
      `more than ${MAX_DELETED} relationships are selected, more than one transaction can delete: set --limit ${MAX_DELETED} and run the command again for the rest`,
    );
  }
  for (const { relationship } of updates) await print(printable(formatRelationship(relationship)));
  const count = `${updates.length} relationship${updates.length === 1 ? "" : "s"}`;
  if (dryRun || updates.length === 0) {
    note(`${count} would be deleted`);
    return;
  }
  if (!yes) {
    note(`${count} would be deleted, but none was: set --yes to delete them`);
    process.exitCode = 1;
    return;
  }
  const writes: RelationshipUpdate[][] = [];
  for (let at = 0; at < updates.length; at += CHANGE) writes.push(updates.slice(at, at + CHANGE));
  // One commit is one transaction.
  await store.commit(writes);
  note(`${count} deleted`);
}

async function selected(
  store: RelationshipStore,
  selection: Selection,
  most: number,
): Promise<RelationshipUpdate[]> {
  const updates: RelationshipUpdate[] = [];
  for await (const batch of store.load()) {
    for (const relationship of batch) {
      if (selection.select(relationship) === undefined) continue;
      updates.push({ operation: "DELETE", relationship });
      if (updates.length === most) return updates;
    }
  }
  return updates;
}
