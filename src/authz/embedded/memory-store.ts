import { randomUUID } from "node:crypto";
import type { Relationship } from "../../model/relationship.ts";
import { formatRelationship } from "../../model/relationship-text.ts";
import type { RelationshipStore, StoredChange } from "../engine/relationship-store.ts";
import type { RelationshipUpdate } from "../engine/requests.ts";

const KEPT_CHANGES = 10_000;
const BATCH = 10_000;

/**
 * A store in memory. It is not durable: its content is lost with the process. It is for tests and
 * `svc-access model test`, not production.
 *
 * @param relationships the initial relationships
 *
 * @example
 * ```ts
 * const engine = await createEmbeddedEngine({ model, store: createMemoryStore() });
 * ```
 */
export function createMemoryStore(relationships: Iterable<Relationship> = []): RelationshipStore {
  return new MemoryStore(relationships);
}

class MemoryStore implements RelationshipStore {
  readonly id = randomUUID();
  sequence = 0;
  readonly #relationships = new Map<string, Relationship>();
  #changes: StoredChange[] = [];

  constructor(relationships: Iterable<Relationship>) {
    for (const relationship of relationships) {
      this.#relationships.set(formatRelationship(relationship), relationship);
    }
  }

  async *load(): AsyncGenerator<readonly Relationship[]> {
    let batch: Relationship[] = [];
    for (const relationship of this.#relationships.values()) {
      batch.push(relationship);
      if (batch.length === BATCH) {
        yield batch;
        batch = [];
      }
    }
    if (batch.length > 0) yield batch;
  }

  async commit(writes: readonly (readonly RelationshipUpdate[])[]): Promise<number> {
    for (const updates of writes) this.#commit(updates);
    return this.sequence;
  }

  async changesAfter(
    sequence: number,
    limit: number,
  ): Promise<readonly StoredChange[] | undefined> {
    const first = this.#changes[0]?.sequence ?? this.sequence + 1;
    if (sequence + 1 < first) return undefined;
    const from = sequence + 1 - first;
    return this.#changes.slice(from, from + limit);
  }

  async recover(): Promise<void> {}

  async close(): Promise<void> {}

  #commit(updates: readonly RelationshipUpdate[]): void {
    for (const { operation, relationship } of updates) {
      const key = formatRelationship(relationship);
      if (operation === "DELETE") this.#relationships.delete(key);
      else this.#relationships.set(key, relationship);
    }
    this.#changes.push({ sequence: ++this.sequence, updates: [...updates] });
    // Cut at twice the number, so that it is not done for every write.
    if (this.#changes.length >= KEPT_CHANGES * 2)
      this.#changes = this.#changes.slice(-KEPT_CHANGES);
  }
}
