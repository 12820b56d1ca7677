import type { v1 } from "@authzed/authzed-node";
import type { Model } from "../../../model/index.ts";
import type { Relationship } from "../../../model/relationship.ts";
import type { CallOptions } from "../../engine/requests.ts";
import type { RequestValidator } from "../../engine/validate-request.ts";
import type { Connection } from "./connection.ts";
import type { Freshness } from "./freshness.ts";

/** What every call to SpiceDB needs. */
export interface SpicedbSession {
  readonly model: Model;
  /**
   * Refuses invalid requests before SpiceDB is asked, so that all engines report the same errors.
   */
  readonly validator: RequestValidator;
  readonly connection: Connection;
  readonly freshness: Freshness;
}

/** A complete listing, and its state. */
export interface Listing<Message> {
  readonly messages: readonly Message[];
  readonly zedToken: string;
  /** How SpiceDB was asked. */
  readonly consistency: v1.Consistency;
}

/**
 * The newest state, as a ZedToken: no older than any that was acknowledged before this call.
 *
 * SpiceDB shares one answer among concurrent requests, so it may precede a write that is
 * acknowledged by now. A second request gets an answer that is newer than the first one.
 */
export async function newestOf(
  { connection }: Pick<SpicedbSession, "connection">,
  signal?: AbortSignal,
): Promise<string> {
  await headOf(connection, signal);
  return headOf(connection, signal);
}

async function headOf(connection: Connection, signal: AbortSignal | undefined): Promise<string> {
  const { readAt } = await connection.unary<v1.ReadSchemaResponse>(
    "read",
    signal,
    (options, done) => connection.client.readSchema({}, options, done),
  );
  return readAt?.token ?? "";
}

/**
 * Reads a listing that is as fresh as required. An empty one does not contain its state: a state
 * that it is at least as fresh as is reported instead.
 *
 * @param tokenOf reads the state of a message
 */
export async function readFresh<Message>(
  session: SpicedbSession,
  options: CallOptions,
  tokenOf: (message: Message) => v1.ZedToken | undefined,
  read: (consistency: v1.Consistency) => Promise<Message[]>,
): Promise<Listing<Message>> {
  const { consistency, atLeast, seen } = await session.freshness.read(options);
  const messages = await read(consistency);
  const first = messages[0];
  const token = first === undefined ? undefined : tokenOf(first)?.token;
  seen(token);
  return { messages, zedToken: token ?? atLeast, consistency };
}

/** Whether a relationship is of the service's model: those of others that share the SpiceDB are not shown. */
export function isOwn({ model }: SpicedbSession, { resource }: Relationship): boolean {
  return model.definitions.has(resource.type);
}
