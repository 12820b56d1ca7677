import { describe, expect, test } from "vitest";
import type { NewProviderDocument } from "../../../src/ground/store/document-rows.ts";
import { ProviderDatabase } from "../../../src/ground/store/provider-database.ts";
import { ProviderDocuments } from "../../../src/ground/store/provider-documents.ts";
import { postgres, sqlite, type TestDatabase } from "../../support/databases.ts";

const START = 1_800_000_000_000;

function documentOf(
  model: NewProviderDocument["model"],
  id: string,
  parent: string | null = null,
): NewProviderDocument {
  return {
    model,
    id,
    grant_id: "grant",
    uid: null,
    user_code: null,
    session_uid: null,
    account_id: null,
    payload: "{}",
    expire_time: START + 3_600_000,
    parent_id: parent,
  };
}

/** A family of refresh tokens, as one replica or several see it. */
class Family {
  now = START;
  readonly replicas: readonly ProviderDocuments[];

  constructor({ open }: TestDatabase, replicas: number) {
    this.replicas = Array.from(
      { length: replicas },
      () => new ProviderDocuments(new ProviderDatabase(open()), () => this.now),
    );
  }

  get first(): ProviderDocuments {
    return this.replicas[0] as ProviderDocuments;
  }

  async begin(): Promise<this> {
    await this.first.save({ ...documentOf("Grant", "grant"), grant_id: "grant" });
    await this.first.save(documentOf("RefreshToken", "0"));
    await this.first.save(documentOf("AuthorizationCode", "code"));
    return this;
  }

  use(id: string, replica = this.first) {
    return replica.consume("RefreshToken", id);
  }

  succeed(id: string, parent: string, replica = this.first) {
    return replica.addSuccessor(documentOf("RefreshToken", id, parent));
  }

  async hasEnded(): Promise<boolean> {
    return (await this.first.find("Grant", "grant")) === undefined;
  }
}

describe.each([
  ["SQLite", 1, async () => sqlite],
  ["PostgreSQL", 3, postgres],
] as const)("refresh tokens in %s", async (_, replicas, prepare) => {
  const create: (() => Promise<TestDatabase>) | undefined = await prepare();
  if (create === undefined) return;
  const family = async () => new Family(await create(), replicas).begin();

  test("a used token stays good for 10 s [IDP-3]", async () => {
    const tokens = await family();
    expect(await tokens.use("0")).toBe("used");
    tokens.now += 10_000;
    expect(await tokens.use("0")).toBe("used");
    tokens.now += 1;
    expect(await tokens.use("0")).toBe("used_before");
  });

  test("a token that is used later ends its family", async () => {
    const tokens = await family();
    await tokens.use("0");
    await tokens.succeed("1", "0");
    tokens.now += 10_001;
    expect(await tokens.use("0")).toBe("used_before");
    expect(await tokens.hasEnded()).toBe(true);
    expect(await tokens.first.find("AuthorizationCode", "code")).toBeUndefined();
    expect(await tokens.use("1")).toBe("gone");
    expect(await tokens.succeed("2", "1")).toBe(false);
  });

  test("the first use of a sibling ends the others", async () => {
    const tokens = await family();
    await tokens.use("0");
    for (const id of ["a", "b", "c"]) expect(await tokens.succeed(id, "0")).toBe(true);
    expect(await tokens.use("b")).toBe("used");
    expect(await tokens.use("b")).toBe("used");
    expect(await tokens.hasEnded()).toBe(false);
    expect(await tokens.use("a")).toBe("used_before");
    expect(await tokens.hasEnded()).toBe(true);
  });

  test("the first use of a sibling ends the 10 s of the token before it", async () => {
    const tokens = await family();
    await tokens.use("0");
    await tokens.succeed("a", "0");
    await tokens.use("a");
    expect(await tokens.use("0")).toBe("used_before");
    expect(await tokens.hasEnded()).toBe(true);
  });

  test("a sibling that is made after the first use of another one is refused, and nothing ends", async () => {
    const tokens = await family();
    await tokens.use("0");
    await tokens.use("0");
    await tokens.succeed("a", "0");
    await tokens.use("a");
    expect(await tokens.succeed("late", "0")).toBe(false);
    expect(await tokens.first.find("RefreshToken", "late")).toBeUndefined();
    expect(await tokens.hasEnded()).toBe(false);
  });

  test("a clock that was set back does not extend the 10 s by more than a minute", async () => {
    const tokens = await family();
    await tokens.use("0");
    tokens.now -= 3_600_000;
    expect(await tokens.use("0")).toBe("used_before");
  });

  test("a family continues over many generations", async () => {
    const tokens = await family();
    for (let index = 0; index < 20; index++) {
      expect(await tokens.use(`${index}`)).toBe("used");
      expect(await tokens.succeed(`${index + 1}`, `${index}`)).toBe(true);
      tokens.now += 300_000;
    }
    expect(await tokens.hasEnded()).toBe(false);
  });

  test("of siblings that are used at once on all replicas, one is used, and the family ends", async () => {
    for (let round = 0; round < 10; round++) {
      const tokens = await family();
      await tokens.use("0");
      const ids = ["a", "b", "c", "d", "e", "f"];
      for (const id of ids) await tokens.succeed(id, "0");
      const outcomes = await Promise.all(
        ids.map((id, index) => tokens.use(id, tokens.replicas[index % replicas] as never)),
      );
      expect(outcomes.filter((outcome) => outcome === "used")).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome === "used_before")).toHaveLength(1);
      expect(await tokens.hasEnded()).toBe(true);
    }
  });

  test("a code that is redeemed at once on all replicas is redeemed once, and its grant ends", async () => {
    for (let round = 0; round < 10; round++) {
      const tokens = await family();
      const outcomes = await Promise.all(
        Array.from({ length: 6 }, (_, index) =>
          (tokens.replicas[index % replicas] as ProviderDocuments).consume(
            "AuthorizationCode",
            "code",
          ),
        ),
      );
      expect(outcomes.filter((outcome) => outcome === "used")).toHaveLength(1);
      expect(await tokens.hasEnded()).toBe(true);
    }
  });

  test("expired documents are deleted in batches, by replicas at once", async () => {
    const tokens = await family();
    for (let index = 0; index < 50; index++) {
      await tokens.first.save({ ...documentOf("Session", `${index}`), expire_time: START - index });
    }
    tokens.now = START + 1;
    expect(await tokens.first.removeExpired(20)).toBe(20);
    const counts = await Promise.all(tokens.replicas.map((replica) => replica.removeExpired(30)));
    const left = await tokens.first.removeExpired(30);
    expect(counts.reduce((sum, count) => sum + count, left)).toBe(30);
    expect(await tokens.hasEnded()).toBe(false);
  });

  test("a document that must be new is stored once", async () => {
    const tokens = await family();
    const add = (replica: ProviderDocuments) => replica.add(documentOf("ReplayDetection", "jti"));
    const added = await Promise.all([...tokens.replicas, tokens.first].map(add));
    expect(added.filter(Boolean)).toHaveLength(1);
  });
});
