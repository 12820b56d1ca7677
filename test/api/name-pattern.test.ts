import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  isCollectionOf,
  segmentIndex,
  segmentNames,
  segmentReader,
} from "../../src/api/name-pattern.ts";

describe("segmentIndex", () => {
  test.each([
    ["merchants/*", "merchants", 1],
    ["merchants/*/ledgers/*", "ledgers", 3],
    ["merchants/*/ledgers/*", "2", 3],
    ["*/*", "1", 0],
    ["*", "1", 0],
    ["a-b/*", "a-b", 1],
    ["organizations/*/**", "organizations", 1],
    ["projects/global/images/*", "images", 3],
  ])("%s has %s", (pattern, name, index) => {
    expect(segmentIndex(pattern, name)).toEqual({ index });
  });

  test.each([
    ["merchants/*/ledgers/*", "merchant", "has no segment merchant; it has merchants, ledgers"],
    ["merchants/*", "2", "has no segment 2; it has merchants"],
    ["merchants/*", "0", "has no segment 0"],
    ["files/**", "files", 'no segment "*" follows files'],
    ["files/**", "1", "has no segment 1"],
    ["projects/global/images/*", "projects", 'no segment "*" follows projects; it has images'],
    ["folders/*/folders/*", "folders", "has folders twice; name the segment by its number"],
    ["merchants", "merchants", 'no segment "*" follows merchants'],
  ])("%s has no %s", (pattern, name, error) => {
    expect(segmentIndex(pattern, name)).toEqual({ error: expect.stringContaining(error) });
  });

  test("each name that a message suggests is valid", () => {
    for (const pattern of ["a/*/b/*", "*/*", "a/*/a/*", "a/*/**", "a.b/*/c/d/*", "1/*"]) {
      const names = segmentNames(pattern);
      const indices = names.map((name) => segmentIndex(pattern, name).index);
      expect(new Set(indices).size).toBe(names.length);
      for (const index of indices) expect(pattern.split("/")[index as number]).toBe("*");
    }
  });
});

test("a reader gets the same segment of a name as a split", () => {
  const segment = fc.constantFrom("a", "b", "*");
  const pattern = fc
    .tuple(fc.array(segment, { minLength: 1, maxLength: 4 }), fc.boolean())
    .map(([parts, isOpen]) => (isOpen ? [...parts, "**"] : parts));
  const name = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 6 });
  fc.assert(
    fc.property(pattern, fc.nat(3), name, (parts, at, pieces) => {
      const index = at % parts.length;
      const open = parts.at(-1) === "**";
      const fixed = open ? parts.slice(0, -1) : parts;
      const matches =
        (open ? pieces.length >= fixed.length : pieces.length === fixed.length) &&
        fixed.every((part, i) => pieces[i] !== "" && (part === "*" || part === pieces[i]));
      const expected = matches && index < fixed.length ? pieces[index] : undefined;
      expect(segmentReader(parts.join("/"), index)(pieces.join("/"))).toBe(expected);
    }),
  );
});

describe("isCollectionOf", () => {
  test.each([
    ["merchants", "merchant"],
    ["merchant", "merchant"],
    ["skillSpaces", "skill_space"],
    ["skill-spaces", "skill_space"],
    ["policies", "policy"],
    ["boxes", "box"],
    ["shelves", "shelf"],
    ["people", "person"],
    ["analyses", "analysis"],
    ["items", "shop/item"],
  ])("%s are those of %s", (name, type) => expect(isCollectionOf(name, type)).toBe(true));

  test.each([
    ["merchants", "ledger"],
    ["merchantss", "merchant"],
    ["v1", "user"],
    ["user_groups", "user"],
    ["groups", "user_group"],
    ["", "user"],
  ])("%s are not those of %s", (name, type) => expect(isCollectionOf(name, type)).toBe(false));
});
