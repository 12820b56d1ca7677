import { setTimeout as sleep } from "node:timers/promises";
import type { AuthorizationEngine } from "../../../../src/authz/engine/engine.ts";
import type { VaultServiceHandlers } from "../../fixture/gen/acme/vault/v1/vault_server.ts";
import { vaultHandlers } from "../../support/vault-handlers.ts";

/** From this number on, a watched document sends messages as large and as fast as possible. */
export const FLOOD = 1_000_000;
const LARGE = "x".repeat(16 * 1024);
const PAUSE = 10;

/** What handlers observed of calls that were ended early. */
export interface Seen {
  /** The number of messages of streams. */
  messages: number;
  streamsBegun: number;
  /** The number of calls that began to wait for their signal. */
  waiting: number;
  /** Running slow notices. */
  sleeping: number;
  /** The number of ended streams. */
  streamsEnded: number;
  /** The reasons of the signals that handlers received. */
  readonly aborts: string[];
  /** The notices whose handlers completed, with or without a reader. */
  readonly finished: string[];
}

/**
 * The handlers of the vault, which also follow instructions: the notice `sleep-MS` takes that
 * long and ignores its signal, `wait` ends only with its signal; an update of a document with the
 * text `grant ID` lets alice view the document ID, and `sleep MS` is as slow as the notice.
 */
export function faultHandlers(engine?: () => AuthorizationEngine): {
  handlers: VaultServiceHandlers;
  seen: Seen;
} {
  const seen: Seen = {
    messages: 0,
    streamsBegun: 0,
    waiting: 0,
    sleeping: 0,
    streamsEnded: 0,
    aborts: [],
    finished: [],
  };
  const usual = vaultHandlers();
  const handlers: VaultServiceHandlers = {
    ...usual,
    async getNotice(request, context) {
      const [what, milliseconds] = request.noticeId.split("-");
      if (what === "sleep") {
        seen.sleeping++;
        await sleep(Number(milliseconds));
      }
      if (what === "wait") {
        seen.waiting++;
        await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
        seen.aborts.push((context.signal.reason as { code: string }).code);
      }
      seen.finished.push(request.noticeId);
      return usual.getNotice(request, context);
    },
    async updateDocument(request, context) {
      const [what, id] = request.text.split(" ");
      if (what === "grant" && id !== undefined) await grant(required(engine), id);
      if (what === "sleep") await sleep(Number(id));
      seen.finished.push(request.text);
      return usual.updateDocument(request, context);
    },
    async *watchDocument({ count }) {
      seen.streamsBegun++;
      try {
        for (let index = 0; index < count; index++) {
          if (count < FLOOD) await sleep(PAUSE);
          seen.messages++;
          yield { echo: count < FLOOD ? String(index) : LARGE };
        }
      } finally {
        seen.streamsEnded++;
      }
    },
  };
  return { handlers, seen };
}

async function grant(engine: AuthorizationEngine, id: string): Promise<void> {
  const relationship = {
    resource: { type: "document", id },
    relation: "viewer",
    subject: { type: "user", id: "alice" },
  };
  await engine.writeRelationships({ updates: [{ operation: "TOUCH", relationship }] });
}

function required(engine: (() => AuthorizationEngine) | undefined): AuthorizationEngine {
  if (engine === undefined) throw new Error("there is no engine to grant by");
  return engine();
}
