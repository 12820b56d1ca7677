import { NumberSet } from "../graph/epoch-tables.ts";
import { groupsOf, type RelationshipGraph, usersetsOf } from "../graph/relationship-graph.ts";
import { NO_MEMBER } from "../program/program.ts";
import type { CheckSubject } from "./check-subject.ts";

/**
 * The number of groups of one subject or group from which the search does not walk up from the
 * subject.
 */
const MANY = 512;

/**
 * Decides whether a subject is in groups (see `Program.groups`), from both sides: from the subject
 * to the groups that it is in, and from the groups of the resource to those in them. The side that
 * has seen less continues, until they meet or one of them ends. So a user in many groups costs
 * little if the resource names few, and vice versa.
 *
 * Groups that do not contain the subject are remembered for the rest of the check.
 */
export class GroupSearch {
  readonly #graph: RelationshipGraph;
  #subject: CheckSubject = { type: 0, object: -2, member: 0, pair: -1, wildcard: -1 };
  #started = false;
  /** Groups that hold the subject. */
  readonly #above = new NumberSet();
  #aboveNext = 0;
  /** Whether the groups above are complete, or too many to continue with. */
  #aboveEnded = false;
  #aboveStuck = false;
  /**
   * Whether the subject has too many groups of its own to begin with them: they are checked one by
   * one.
   */
  #unlisted = false;
  /** The groups that are searched for, and those in them. */
  readonly #below = new NumberSet();
  #belowNext = 0;

  constructor(graph: RelationshipGraph) {
    this.#graph = graph;
  }

  /** Begins the checks of a subject; the work is deferred until a group is reached. */
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

  /** Adds a group to search for; true if it is known to contain the subject. */
  ask(group: number): boolean {
    if (this.#holds(group)) return this.#found();
    if (!this.#aboveEnded) this.#below.add(group);
    return false;
  }

  /** Whether one of the groups that are searched for contains the subject. */
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

  /** Whether a group contains the subject, as far as the walk up knows. */
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

  /** Adds the groups that a pair is in; true if one of them is searched for. */
  #addAbove(pair: number): boolean {
    const { resources } = this.#graph;
    const list = groupsOf(pair);
    const length = resources.length(list);
    let met = false;
    // To the end of the list even if they met: the groups above are used in the rest of the check.
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

  /** Forgets which groups below do not contain the subject. */
  #found(): true {
    this.#below.clear();
    this.#belowNext = 0;
    return true;
  }
}
