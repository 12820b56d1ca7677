/** Rules that say nothing about one change after another in a small world, and the test that finds each of them. */
export const ELSEWHERE: readonly (readonly [rule: string, file: string, title: string])[] = [
  [
    "more than 1,000 relations that only some may grant are not compared",
    "rights/relationship-rules.test.ts",
    "more than 1,000 of them are refused, also to an owner of all",
  ],
  [
    "groups that hold more than 1,000 together are refused",
    "rights/shared-grants.test.ts",
    "groups that hold more than 1,000 different relations together are refused",
  ],
  [
    "an admin above a new place counts; in the model of IAM each manager has that rank",
    "rights/platform-model.test.ts",
    "shelf:low#inside@shelf:top",
  ],
  [
    "a set of & or - is not compared; the model of IAM has none",
    "rights/platform-model.test.ts",
    "cannot be compared",
  ],
  [
    "a right that is revoked meanwhile does not count",
    "rights/revoked-rights.test.ts",
    "of who adds a member",
  ],
  [
    "an object whose last relationship is deleted meanwhile is not made again",
    "rights/place-rules.test.ts",
    "an object that is deleted meanwhile is not made again",
  ],
  [
    "a place that is changed meanwhile is not changed again",
    "rights/place-rules.test.ts",
    "a place that is changed meanwhile is not changed again",
  ],
  [
    "of two at work, one keeps the last owner",
    "rights/owner-races.test.ts",
    "a new owner who is disabled while another one goes does not count",
  ],
  [
    "a link for a new password works once, and ends all sessions",
    "api/password/reset-page.test.ts",
    "a link sets the password once, and ends all sessions",
  ],
  [
    "a link for a new password works for an hour",
    "people/accounts/reset-links.test.ts",
    "a link works for an hour",
  ],
  [
    "who is disabled changes nobody",
    "api/users/user-change-handlers.test.ts",
    "a caller who is disabled changes nobody",
  ],
  [
    "policies ask for a permission before the handlers do, and services write their types",
    "access/administration-table.test.ts",
    "write_types",
  ],
];
