import { Command, Option } from "commander";
import type { AuthorizationEngine } from "../../authz/engine/engine.ts";
import { note, print } from "../../common/note.ts";
import { printable } from "../../common/printable.ts";
import type { Relationship } from "../../model/relationship.ts";
import { formatRelationship, readRelationship } from "../../model/relationship-text.ts";
import { OperatorError, storeFlags } from "../command/flags.ts";
import type { EngineFlags } from "./open-embedded-engine.ts";

/** The maximum number of relationships in one write. */
const MOST = 1000;

/** `svc-access relationship touch`. */
export function touchCommand(): Command {
  const command = new Command("touch")
    .description(
      "Writes relationships that the model allows, either all or none; with the embedded engine, the service must be stopped.",
    )
    .argument("<relationship...>", "relationships, such as item:first#owner@user:alice");
  const options = [
    ...storeFlags("the file of the relationships"),
    new Option("--model <file>", "the authorization model, with --store"),
  ];
  for (const option of options) command.addOption(option);
  return command
    .addHelpText(
      "after",
      `
Examples:
  svc-access relationship touch --config service.yaml item:first#owner@user:alice
  svc-access relationship touch --config service.yaml 'group:staff#member@user:bob' 'item:first#viewer@group:staff#member'
  svc-access relationship touch --store notes.relationships.db --model model.zed item:first#owner@user:alice

With --config it uses the engine of the service: SpiceDB, or the embedded engine, whose store it
creates if necessary. Existing relationships stay unchanged.
Exit codes: 0 written, 2 usage, a relationship that the model does not allow, or a store that cannot be opened.`,
    )
    .action(touch);
}

async function touch(texts: readonly string[], flags: EngineFlags): Promise<void> {
  if (texts.length > MOST) throw new OperatorError(`one write has at most ${MOST} relationships`);
  const relationships = texts.map(parse);
  const { openEngine } = await import("./open-embedded-engine.ts");
  const engine = await openEngine(flags);
  try {
    await write(engine, relationships);
  } finally {
    await engine.close();
  }
  for (const relationship of relationships)
    await print(printable(formatRelationship(relationship)));
  note(`${texts.length} relationship${texts.length === 1 ? "" : "s"} written`);
}

async function write(
  engine: AuthorizationEngine,
  relationships: readonly Relationship[],
): Promise<void> {
  const updates = relationships.map((relationship) => {
    return { operation: "TOUCH" as const, relationship };
  });
  await engine.writeRelationships({ updates });
}

function parse(text: string): Relationship {
  const { relationship, problem } = readRelationship(text);
  if (problem !== undefined) throw new OperatorError(problem);
  return relationship;
}
