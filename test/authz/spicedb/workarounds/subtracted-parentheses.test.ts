import { describe, expect, test } from "vitest";
import { createSpicedbEngine } from "../../../../src/authz/spicedb/index.ts";
import { refuseSubtractedParentheses } from "../../../../src/authz/spicedb/workarounds/subtracted-parentheses.ts";
import { spicedbIsAbsent } from "../../../support/spicedb.ts";
import { modelOf } from "../fixture.ts";
import { isAllowed, onceRight, withRawSpicedb } from "./raw-spicedb.ts";

/** A model whose folders have these permissions. */
function schemaOf(...permissions: string[]): string {
  return `use self
definition user {}
definition folder {
  relation parent: folder
  relation viewer: user
  relation banned: user
  relation muted: user
${permissions.map((permission) => `  permission ${permission}\n`).join("")}}
`;
}

/** Pairs of permissions for which SpiceDB confuses the decisions. */
const MISREAD: readonly (readonly [string, string])[] = [
  ["look = viewer", "view = viewer - (viewer + banned)"],
  ["look = viewer", "view = viewer - (viewer + parent->viewer)"],
  ["both = viewer & banned", "view = viewer - (banned & viewer)"],
  ["both = viewer & (banned + muted)", "view = viewer - (banned + muted)"],
  ["look = viewer & (banned - muted)", "view = viewer - (banned - muted)"],
];

const REFUSED: readonly string[] = [
  ...MISREAD.map(([, view]) => view),
  "view = viewer - (viewer + nil)",
  "view = (viewer + self) - (viewer + self)",
  "view = viewer - (parent.all(viewer) & viewer)",
  "view = viewer - (parent.all(viewer) & banned)",
  "view = self - (viewer + banned)",
  "view = nil - (viewer + banned)",
  // A union binds tighter than a minus.
  "view = viewer - banned + muted",
  // Below another operator, and to the left of a minus.
  "view = parent->viewer + (viewer - (banned + muted))",
  "view = muted & (viewer - (banned + muted))",
  "view = viewer - (banned + muted) - parent->viewer",
];

const ACCEPTED: readonly (readonly string[])[] = [
  ["look = viewer & banned", "view = viewer - banned"],
  ["view = viewer - banned - muted"],
  ["view = (viewer + banned) - muted"],
  ["view = (viewer & banned) - muted - parent->viewer"],
  ["view = (viewer - banned) + (muted - banned)"],
  ["view = viewer - parent.all(viewer)"],
  ["view = viewer - self"],
  ["view = viewer - nil"],
  ["shut = viewer + banned", "view = viewer - shut", "look = viewer"],
  ["shut = viewer & banned", "view = viewer - shut", "both = viewer & banned"],
  ["open = banned - muted", "view = viewer - open", "look = viewer & open"],
];

describe("a model that subtracts parentheses", () => {
  test.each(REFUSED)("is refused: %s", (permission) => {
    const model = modelOf(schemaOf("look = viewer", permission));
    expect(() => refuseSubtractedParentheses(model)).toThrow(/: folder#view = [^;]*$/);
  });

  test("is refused with the fix, and the error names all such permissions", () => {
    const model = modelOf(
      schemaOf("view = viewer - (banned + muted)", "look = viewer", "edit = muted - viewer & look"),
    );
    expect(() => refuseSubtractedParentheses(model)).toThrow(
      /define a permission for the subtracted part and subtract that, .*: folder#view = viewer - \(banned \+ muted\); folder#edit = muted - \(viewer & look\)$/,
    );
    const many = Array.from({ length: 7 }, (_, at) => `view${at} = viewer - (banned + muted)`);
    expect(() => refuseSubtractedParentheses(modelOf(schemaOf(...many)))).toThrow(
      /#view4 = viewer - \(banned \+ muted\); and 2 more$/,
    );
  });

  test.each(ACCEPTED)("is accepted without them: %s; %s; %s", (...permissions) => {
    const model = modelOf(schemaOf(...permissions.filter((text) => text !== undefined)));
    expect(() => refuseSubtractedParentheses(model)).not.toThrow();
  });

  test("prevents the start of the engine", async () => {
    const model = modelOf(schemaOf("view = viewer - (banned + muted)"));
    const options = { endpoint: "127.0.0.1:1", token: "t", insecure: true, model };
    await expect(createSpicedbEngine(options)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

describe.skipIf(spicedbIsAbsent())("a raw SpiceDB", () => {
  const users = Array.from({ length: 8 }, (_, bits) => `u${bits}`);
  const stored = users.flatMap((id, bits) =>
    ["viewer", "banned", "muted"]
      .filter((_, bit) => (bits >> bit) & 1)
      .map((relation) => `folder:one#${relation}@user:${id}`),
  );

  test.each(MISREAD)("decides wrongly with %s and %s", async (left, right) => {
    await withRawSpicedb(schemaOf(left, right), stored, async ({ client }) => {
      const [first = "", second = ""] = [left, right].map((text) => text.split(" ")[0] ?? "");
      for (const id of users) {
        // The second gets the cached decision of the first, for every user.
        const kept = await isAllowed(client, `folder:one#${first}@user:${id}`);
        const decided = await isAllowed(client, `folder:one#${second}@user:${id}`);
        expect([id, decided], onceRight("subtracted-parentheses.ts")).toEqual([id, kept]);
      }
    });
  });
});
