import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { CasdoorApi } from "../../../src/provider/casdoor/casdoor-api.ts";
import { CasdoorDirectory } from "../../../src/provider/casdoor/casdoor-directory.ts";
import type {
  Directory,
  DirectoryGroup,
  DirectoryPage,
  DirectoryUser,
  GroupQuery,
  UserQuery,
} from "../../../src/provider/directory.ts";
import { casdoorGroup, casdoorOrganization, casdoorUser } from "./casdoor-records.ts";
import { APPLICATION, type StandInCasdoor, startCasdoor } from "./stand-in-casdoor.ts";

export const ALICE = casdoorUser("alice", { groups: ["acme/staff", "acme/ops"] });
export const BOB = casdoorUser("bob", { groups: ["staff"], isForbidden: true });
export const GONE = casdoorUser("carol", { isDeleted: true });
export const FOREIGN = casdoorUser("mallory", { owner: "evil" });

/** The directory of the organization `acme` in a stand-in, of this test file. */
export interface DirectoryFixture {
  readonly casdoor: StandInCasdoor;
  readonly directory: Directory;
  users(query?: Partial<UserQuery>): Promise<DirectoryPage<DirectoryUser> | undefined>;
  groups(query?: Partial<GroupQuery>): Promise<DirectoryPage<DirectoryGroup> | undefined>;
}

export const { signal } = new AbortController();

/** Starts it before the tests, with the same records before each. */
export function directoryFixture(): DirectoryFixture {
  let casdoor: StandInCasdoor;
  let directory: Directory;
  beforeAll(async () => {
    casdoor = await startCasdoor();
    const { clientId, clientSecret } = APPLICATION;
    const logger = { error: () => undefined };
    const api = new CasdoorApi({ endpoint: casdoor.origin, clientId, clientSecret, logger });
    directory = new CasdoorDirectory({ api, organization: "acme", logger });
  });
  afterAll(() => casdoor.close());
  beforeEach(() => {
    casdoor.data.organizations = [casdoorOrganization("acme"), casdoorOrganization("evil")];
    casdoor.data.users = [BOB, ALICE, GONE, FOREIGN];
    casdoor.data.groups = [
      casdoorGroup("staff"),
      casdoorGroup("ops", { parentId: "staff" }),
      casdoorGroup("others", { owner: "evil" }),
    ];
  });
  afterEach(() => {
    casdoor.intercept = undefined;
  });
  return {
    get casdoor() {
      return casdoor;
    },
    get directory() {
      return directory;
    },
    users: (query) =>
      directory.users("acme", { size: 50, after: "", text: "", groupId: "", ...query }, signal),
    groups: (query) =>
      directory.groups("acme", { size: 50, after: "", parentId: "", ...query }, signal),
  };
}

/** Answers every request with a record, or records and their number. */
export function answerWith(data: unknown, data2: unknown = null): StandInCasdoor["intercept"] {
  return (_, response) => {
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ status: "ok", msg: "", data, data2 }));
    return true;
  };
}
