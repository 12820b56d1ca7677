import { groupsOf, type RelationshipGraph, usersetsOf } from "../graph/relationship-graph.ts";
import { NO_MEMBER } from "../program/pair-layout.ts";
import type { CheckSubject } from "./check-subject.ts";
import { NumberSet } from "./number-set.ts";

/** From how many groups of one subject or group on the search leaves the side of the subject alone. */
const MANY = 512;

/**
 * Decides whether a subject is in groups (see `Program.groups`), from both
 * sides: from the subject to the groups that it is in, and from the groups of
 * the resource to those in them. Whichever side has seen less goes on, and the
 * answer is there once they meet or one of them ends, so that a user in many
 * groups costs little where the resource names few, and the other way round.
 *
 * A group that does not hold the subject is known for the rest of the check.
 */
export class GroupSearch {
  readonly #graph: RelationshipGraph;
  #subject: CheckSubject = { type: 0, object: -2, member: 0, pair: -1, wildcard: -1 };
  #started = false;
  /** Groups that hold the subject. */
  readonly #above = new NumberSet();
  #aboveNext = 0;
  /** Whether the groups above are all; or too many to go on with. */
  #aboveEnded = false;
  #aboveStuck = false;
  /** Whether the subject's own groups are too many to begin with: they are asked for one by one. */
  #unlisted = false;
  /** Groups that are asked for, and what is in them. */
  readonly #below = new NumberSet();
  #belowNext = 0;

  constructor(graph: RelationshipGraph) {
    this.#graph = graph;
  }

  /** Begins the checks of a subject; what it costs is put off until a group is met. */
  begin(subject: CheckSubject): void {
    this.#subject = subject;
    this.#started = false;
  }

  /** Makes ready for a number of groups. */
  expect(groups: number): boolean {
    if (!this.#started) this.#start();
    while (this.#isAboveOpen() && this.#above.size < this.#below.size + groups) {
      if (this.#expandAbove()) return this.#found();
    }
    return false;
  }

  /** Asks for a group; true where it is known to hold the subject. */
  ask(group: number): boolean {
    if (this.#holds(group)) return this.#found();
    if (!this.#aboveEnded) this.#below.add(group);
    return false;
  }

  /** Whether one of the groups that were asked for holds the subject. */
  run(): boolean {
    while (!this.#aboveEnded && this.#belowNext < this.#below.size) {
      const fromAbove = this.#isAboveOpen() && this.#above.size < this.#below.size;
      if (fromAbove ? this.#expandAbove() : this.#expandBelow()) return this.#found();
    }
    this.#belowNext = this.#below.size;
    return false;
  }

  #start(): void {
    const { pair, wildcard, member } = this.#subject;
    const { resources } = this.#graph;
    this.#started = true;
    this.#above.clear();
    this.#below.clear();
    this.#aboveNext = 0;
    this.#belowNext = 0;
    this.#aboveStuck = false;
    this.#aboveEnded = false;
    this.#unlisted = false;
    if (member !== NO_MEMBER) {
      // A userset is in itself.
      if (pair >= 0) this.#above.add(pair);
    } else {
      for (const own of [pair, wildcard]) {
        if (own < 0) continue;
        if (resources.length(groupsOf(own)) > MANY) this.#unlisted = true;
        else this.#addAbove(own);
      }
    }
    this.#aboveEnded = !this.#unlisted && this.#above.size === 0;
  }

  #isAboveOpen(): boolean {
    return !this.#aboveEnded && !this.#aboveStuck && !this.#unlisted;
  }

  /** Whether a group holds the subject, as far as the side above knows. */
  #holds(group: number): boolean {
    if (this.#above.has(group)) return true;
    if (!this.#unlisted) return false;
    const { edges } = this.#graph;
    const { pair, wildcard } = this.#subject;
    return (
      (pair >= 0 && edges.find(group, pair) >= 0) ||
      (wildcard >= 0 && edges.find(group, wildcard) >= 0)
    );
  }

  #expandAbove(): boolean {
    const group = this.#above.at(this.#aboveNext);
    if (this.#graph.resources.length(groupsOf(group)) > MANY) {
      this.#aboveStuck = true;
      return false;
    }
    const met = this.#addAbove(group);
    this.#aboveEnded = ++this.#aboveNext === this.#above.size;
    return met;
  }

  /** Adds the groups that a pair is in; true where one of them was asked for. */
  #addAbove(pair: number): boolean {
    const { resources } = this.#graph;
    const list = groupsOf(pair);
    const length = resources.length(list);
    let met = false;
    // To the end of the list also when they met: what is above serves the rest of the check.
    for (let index = 0; index < length; index++) {
      const group = resources.item(list, index);
      if (this.#above.add(group) && this.#below.has(group)) met = true;
    }
    return met;
  }

  #expandBelow(): boolean {
    const { subjects } = this.#graph;
    const list = usersetsOf(this.#below.at(this.#belowNext++));
    const length = subjects.length(list);
    for (let index = 0; index < length; index++) {
      const group = subjects.item(list, index);
      if (this.#below.add(group) && this.#holds(group)) return true;
    }
    return false;
  }

  /** What is below is not known to be without the subject any longer. */
  #found(): true {
    this.#below.clear();
    this.#belowNext = 0;
    return true;
  }
}
