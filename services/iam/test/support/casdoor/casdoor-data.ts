import type { CasdoorAnswer } from "./casdoor-oauth.ts";
import type { CasdoorGroup, CasdoorOrganization, CasdoorUser } from "./casdoor-records.ts";

/** The records of the stand-in, and how the management API reads them. */
export class CasdoorDirectoryData {
  users: CasdoorUser[] = [];
  groups: CasdoorGroup[] = [];
  organizations: CasdoorOrganization[] = [];

  /** The answer of an operation; undefined where there is no such. */
  answer(operation: string, query: URLSearchParams): CasdoorAnswer | undefined {
    const owner = query.get("owner") ?? "";
    const [idOwner, idName] = (query.get("id") ?? "").split("/");
    switch (operation) {
      case "get-users":
        return page(
          this.users.filter((user) => user.owner === owner),
          query,
        );
      case "get-groups":
        return page(
          this.groups.filter((group) => group.owner === owner),
          query,
        );
      case "get-user": {
        const userId = query.get("userId");
        return found(this.users.find((user) => user.owner === owner && user.id === userId));
      }
      case "get-organization":
        return found(
          this.organizations.find((one) => one.owner === idOwner && one.name === idName),
        );
      default:
        return undefined;
    }
  }
}

function found(record: object | undefined): CasdoorAnswer {
  return { status: 200, json: { status: "ok", msg: "", data: record ?? null, data2: null } };
}

/** A page by `p` and `pageSize`; a page after the last is the last. `data2` is the total. */
function page(records: readonly { readonly name: string }[], query: URLSearchParams) {
  const sorted =
    query.get("sortField") === "name"
      ? records.toSorted((a, b) => (a.name < b.name ? -1 : 1))
      : records;
  const size = Number(query.get("pageSize"));
  const last = Math.max(1, Math.ceil(sorted.length / size));
  const start = (Math.min(Number(query.get("p")), last) - 1) * size;
  const data = sorted.slice(start, start + size);
  return { status: 200, json: { status: "ok", msg: "", data, data2: sorted.length } };
}
