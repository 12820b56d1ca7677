import type { v1 } from "@authzed/authzed-node";
import type { Model } from "../../model/index.ts";
import type { CallOptions } from "../engine.ts";
import type { RequestValidator } from "../validate-request.ts";
import type { Connection } from "./connection.ts";
import { atExactly, type Freshness } from "./freshness.ts";

/** What every call to SpiceDB needs. */
export interface Session {
  readonly model: Model;
  /** Refuses what can never be right before SpiceDB is asked, so that both engines say the same. */
  readonly validator: RequestValidator;
  readonly connection: Connection;
  readonly freshness: Freshness;
}

/** A listing, all of it, and the state that it is of. */
export interface Listing<Message> {
  readonly messages: readonly Message[];
  readonly zedToken: string;
  /** How SpiceDB was asked. */
  readonly consistency: v1.Consistency;
}

/** The newest state, as a ZedToken. */
export async function headOf(
  { connection }: Pick<Session, "connection">,
  signal?: AbortSignal,
): Promise<string> {
  const { readAt } = await connection.unary<v1.ReadSchemaResponse>(
    "read",
    signal,
    (options, done) => connection.client.readSchema({}, options, done),
  );
  return readAt?.token ?? "";
}

/**
 * Reads a listing as fresh as it must be. An empty one does not say what state it is of: it is
 * read again at the newest.
 *
 * @param tokenOf the state that a message says it is of
 */
export async function readFresh<Message>(
  session: Session,
  { atLeastAsFresh, signal }: CallOptions,
  tokenOf: (message: Message) => v1.ZedToken | undefined,
  read: (consistency: v1.Consistency) => Promise<Message[]>,
): Promise<Listing<Message>> {
  const { consistency, seen } = session.freshness.read(atLeastAsFresh);
  const messages = await read(consistency);
  const first = messages[0];
  const token = first === undefined ? undefined : tokenOf(first)?.token;
  const zedToken = token ?? (await headOf(session, signal));
  seen(zedToken);
  if (token !== undefined) return { messages, zedToken, consistency };
  const exact = atExactly(zedToken);
  return { messages: await read(exact), zedToken, consistency: exact };
}
