import { type Command, Option } from "commander";
import {
  type DisallowedRelationship,
  disallowedRelationship,
  RequestValidator,
} from "../../authz/engine/validate-request.ts";
import { printable } from "../../common/printable.ts";
import { type Model, readModelFile } from "../../model/index.ts";
import type { Relationship } from "../../model/relationship.ts";
import { type Reference, readReference } from "../../model/relationship-text.ts";
import { OperatorError, readConfig, type StoreFlags, storeFlags } from "../command/flags.ts";

/** The flags of both commands. */
export interface SelectionFlags extends StoreFlags {
  readonly resource?: string;
  readonly relation?: string;
  readonly subject?: string;
  readonly model?: string;
  readonly misfit?: boolean;
}

/** A selected relationship; `reason` says why the model does not allow it. */
export interface Selected {
  readonly relationship: Relationship;
  readonly reason?: string;
}

/** A selection of relationships. */
export interface Selection {
  /** Whether it selects all relationships, since no flag limits it. */
  readonly isAll: boolean;
  select(relationship: Relationship): Selected | undefined;
}

/** Adds the flags to a command. */
export function withSelection(command: Command): Command {
  const options = [
    ...storeFlags("the file of the relationships"),
    new Option("--resource <type[:id]>", "of this type, or of this object"),
    new Option("--relation <name>", "of this relation"),
    new Option("--subject <type[:id][#relation]>", "of this type, object or userset"),
    new Option(
      "--model <file>",
      "the authorization model, for --misfit (default: the model in the configuration)",
    ),
    new Option("--misfit", "only relationships that the model does not allow"),
  ];
  for (const option of options) command.addOption(option);
  return command;
}

/** Reads the flags. @throws OperatorError that names the wrong flag */
export async function readSelection(flags: SelectionFlags): Promise<Selection> {
  const { resource, relation, subject, misfit = false } = flags;
  const tests: ((of: Relationship) => boolean)[] = [];
  if (resource !== undefined) {
    const { type, id, relation: member } = partsOf("--resource", resource);
    if (member !== undefined)
      throw new OperatorError("--resource has no #relation: use --relation");
    tests.push((of) => of.resource.type === type && (id === undefined || of.resource.id === id));
  }
  if (relation !== undefined) {
    if (!/^\w+$/.test(relation))
      throw new OperatorError("--relation must be the name of a relation");
    tests.push((of) => of.relation === relation);
  }
  if (subject !== undefined) tests.push(subjectTest(partsOf("--subject", subject)));
  if (!misfit && flags.model !== undefined) {
    throw new OperatorError("--misfit and --model need each other: set both");
  }
  const model = misfit ? await modelOf(flags) : undefined;
  const why = model === undefined ? undefined : misfits(model);
  return {
    isAll: tests.length === 0 && why === undefined,
    select(of) {
      if (!tests.every((test) => test(of))) return undefined;
      return why === undefined ? { relationship: of } : why(of);
    },
  };
}

/** The file of the model that relationships must conform to. */
async function modelOf({ model, config }: SelectionFlags): Promise<string> {
  if (model !== undefined) return model;
  if (config === undefined) {
    throw new OperatorError("--misfit needs --model, or --config, which names the model");
  }
  const configured = (await readConfig(config)).security.authz.model;
  if (configured !== undefined) return configured;
  throw new OperatorError(`${config} names no model: set --model`);
}

function subjectTest({ type, id, relation }: Reference) {
  return ({ subject }: Relationship) =>
    subject.type === type &&
    (id === undefined || (subject.id === id && subject.relation === relation));
}

/** `type`, `type:id` or `type:id#relation`. */
function partsOf(flag: string, text: string): Reference {
  const reference = readReference(text);
  if (reference !== undefined) return reference;
  throw new OperatorError(
    `${flag} ${JSON.stringify(text)} is not valid: write type, type:id${flag === "--subject" ? " or type:id#relation" : ""}`,
  );
}

function misfits(file: string): (relationship: Relationship) => DisallowedRelationship | undefined {
  const validator = new RequestValidator(readModel(file));
  return (relationship) => disallowedRelationship(validator, relationship);
}

/** Reads a model. @throws OperatorError with all its errors */
export function readModel(file: string): Model {
  const { model, problems } = readModelFile(file);
  if (problems === undefined) return model;
  throw new OperatorError(problems.map(printable).join("\n"));
}
