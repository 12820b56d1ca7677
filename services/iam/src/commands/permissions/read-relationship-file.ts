import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { relationshipOf, type WrittenRelationship } from "../connection/references.ts";
import { CommandError } from "../run/command-error.ts";
import { unreadable } from "../run/input.ts";

/** The most relationships of a file: all of them are in memory. */
const MOST_LINES = 1_000_000;
const MAX_LINE = 8192;
/** Of binary data, and of no name. */
const NO_TEXT = /[\p{Cc}\ufffd]/u;
/** No type begins with these. */
const COMMENT = /^(?:\/\/|#)/;

/** A relationship of a file. */
export interface ReadRelationship {
  /** Of its line, from 1. */
  readonly number: number;
  readonly relationship: WrittenRelationship;
  /** Whether it is JSON, whose ids are ids; those of a text may be names. */
  readonly isJson: boolean;
}

/**
 * Reads a file with a relationship on each line, as text or as the JSON of an export.
 *
 * @param file `-` for standard input
 * @throws CommandError that names the line
 */
export async function readRelationshipFile(file: string): Promise<readonly ReadRelationship[]> {
  const input = file === "-" ? process.stdin : createReadStream(file);
  const result: ReadRelationship[] = [];
  let number = 0;
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      number++;
      const text = line.trim();
      if (text === "" || COMMENT.test(text)) continue;
      if (result.length === MOST_LINES) {
        throw new CommandError(`${file} has more than ${MOST_LINES} relationships: split it`);
      }
      const isJson = text.startsWith("{");
      result.push({ number, isJson, relationship: atLine(file, number, text) });
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw unreadable(file, error);
  }
  return result;
}

function atLine(file: string, number: number, text: string): WrittenRelationship {
  if (NO_TEXT.test(text) || text.length > MAX_LINE) {
    throw new CommandError(
      `${file}:${number} is not a line of text with a relationship: name a file such as svc-iam relationship export writes`,
    );
  }
  try {
    return relationshipOf(text.startsWith("{") ? textOf(text) : text);
  } catch (error) {
    throw new CommandError(`${file}:${number}: ${(error as Error).message}`);
  }
}

/** What is read of a relationship in JSON, of which each part may be absent or of another type. */
interface PrintedRelationship {
  readonly resource?: { readonly type?: unknown; readonly id?: unknown };
  readonly relation?: unknown;
  readonly subject?: {
    readonly type?: unknown;
    readonly id?: unknown;
    readonly relation?: unknown;
  };
}

/** The text of a relationship in JSON; what is not one stays as it is, and is refused. */
function textOf(json: string): string {
  let value: PrintedRelationship;
  try {
    value = JSON.parse(json);
  } catch {
    return json;
  }
  const { resource, relation, subject } = value;
  const parts = [resource?.type, resource?.id, relation, subject?.type, subject?.id];
  if (parts.some((part) => typeof part !== "string")) return json;
  const set = subject?.relation ? `#${subject.relation}` : "";
  return `${resource?.type}:${resource?.id}#${relation}@${subject?.type}:${subject?.id}${set}`;
}
