import { describe, expect, test } from "vitest";
import type { Explanation } from "../../../src/authz/engine/requests.ts";
import { touch } from "./calls.ts";
import { relationship, request } from "./schema.ts";
import type { Opened } from "./target.ts";

/** explain: the decision of a check, with its reasons. */
export function explainContract(opened: Opened): void {
  describe("explanations", () => {
    test("name the relationships that decide", async () => {
      const { engine } = opened();
      await touch(
        engine,
        "document:e-why#viewer@team:e-why#member",
        "team:e-why#member@user:wendy",
        "document:e-why#banned@user:bob",
      );
      const { explanation, allowed } = await engine.explain(
        request("document:e-why#view@user:wendy"),
      );
      expect(allowed).toBe(true);
      expect(explanation).toMatchObject({
        resource: { type: "document", id: "e-why" },
        permission: "view",
        kind: "union",
        allowed: true,
        children: [{ kind: "exclusion", allowed: true }],
      });
      expect(explanation.children[0]?.children).toMatchObject([
        {
          kind: "relation",
          permission: "viewer",
          allowed: true,
          relationship: relationship("document:e-why#viewer@team:e-why#member"),
          children: [{ relationship: relationship("team:e-why#member@user:wendy") }],
        },
        { kind: "relation", permission: "banned", allowed: false, children: [] },
      ]);
    });

    test("of a denial name everything that was evaluated", async () => {
      const { engine } = opened();
      await touch(engine, "document:e-no#viewer@user:bob", "document:e-no#banned@user:bob");
      const { explanation, allowed } = await engine.explain(request("document:e-no#view@user:bob"));
      expect(allowed).toBe(false);
      expect(explanation).toMatchObject({
        kind: "union",
        allowed: false,
        children: [
          {
            kind: "exclusion",
            allowed: false,
            children: [
              { permission: "viewer", allowed: true },
              { permission: "banned", allowed: true },
            ],
          },
          { kind: "arrow", allowed: false, children: [] },
        ],
      });
    });

    test("of what is held have the whole path, also beside very many others that were tried", async () => {
      const { engine } = opened();
      const others = Array.from({ length: 400 }, (_, index) => `team:e-other${index}`);
      await touch(engine, ...others.map((team) => `document:e-many#viewer@${team}#member`));
      await touch(
        engine,
        "document:e-many#folder@folder:e-many",
        "folder:e-many#viewer@team:e-many#member",
        "team:e-many#member@user:wendy",
      );
      const { explanation } = await engine.explain(request("document:e-many#view@user:wendy"));
      const found: unknown[] = [];
      for (let step: Explanation | undefined = explanation; step !== undefined; ) {
        if (step.relationship !== undefined) found.push(step.relationship);
        step = step.children.find(({ allowed }) => allowed);
      }
      expect(found).toEqual([
        relationship("folder:e-many#viewer@team:e-many#member"),
        relationship("team:e-many#member@user:wendy"),
      ]);
    });

    test("of a userset that contains itself say so, for permissions too", async () => {
      const { engine } = opened();
      await touch(engine, "document:e-own#folder@folder:e-own", "folder:e-own#parent@folder:e-up");
      for (const [text, steps] of [
        ["document:e-own#view@document:e-own#view", ["self"]],
        ["document:e-own#viewer@document:e-own#viewer", ["self"]],
        ["folder:e-own#view@folder:e-up#view", ["union", "arrow", "self"]],
        ["document:e-own#view@folder:e-up#view", ["union", "arrow", "union", "arrow", "self"]],
      ] as const) {
        const { allowed, explanation } = await engine.explain(request(text));
        expect([text, allowed]).toEqual([text, true]);
        const kinds: string[] = [];
        for (let step: Explanation | undefined = explanation; step !== undefined; ) {
          expect(step.allowed).toBe(true);
          kinds.push(step.kind);
          step = step.children.find(({ allowed }) => allowed);
        }
        expect([text, kinds]).toEqual([text, steps]);
      }
    });

    test("agree with checks at every step", async () => {
      const { engine } = opened();
      await touch(
        engine,
        "team:e-g#member@user:ann",
        "folder:e-f#viewer@team:e-g#member",
        "document:e-d#folder@folder:e-f",
        "document:e-d#viewer@user:*",
        "document:e-d#banned@user:bob",
        "document:e-d#approver@user:ann",
      );
      const subjects = ["user:ann", "user:bob", "user:cy", "team:e-g#member", "team:e-g"];
      for (const subject of subjects) {
        for (const permission of ["view", "publish", "viewer", "banned", "folder"]) {
          const asked = request(`document:e-d#${permission}@${subject}`);
          const { allowed } = await engine.check(asked);
          const explained = await engine.explain(asked);
          expect(explained, JSON.stringify(asked)).toMatchObject({ allowed });
          expect(explained.revision).not.toBe("");
          expectConsistent(explained.explanation, allowed);
        }
      }
    });
  });
}

/** The result of a step follows from its kind and the steps below. */
function expectConsistent(step: Explanation, allowed: boolean): void {
  expect(step.allowed).toBe(allowed);
  const below = step.children.map(({ allowed }) => allowed);
  if (step.kind === "union" || step.kind === "arrow") expect(below.includes(true)).toBe(allowed);
  if (step.kind === "intersection") expect(!below.includes(false)).toBe(allowed);
  if (step.kind === "exclusion") expect(below[0] === true && !below[1]).toBe(allowed);
  if (step.kind === "relation") expect(step.relationship !== undefined).toBe(allowed);
  for (const child of step.children) expectConsistent(child, child.allowed);
}
