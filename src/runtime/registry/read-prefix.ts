import type { Etcd3, IDuplexStream, IKeyValue, IWatchRequest, IWatchResponse } from "etcd3";
import { etcdDeadline } from "./etcd-client.ts";

/** The most keys in one answer. */
const PAGE = 2000;

/** All pairs whose keys begin with a prefix, as of one revision. */
export async function readPrefix(
  client: Etcd3,
  prefix: string,
): Promise<{ readonly revision: bigint; readonly pairs: readonly IKeyValue[] }> {
  const pairs: IKeyValue[] = [];
  // The first page is of the latest revision, and the others of the same.
  let revision = "0";
  let from = Buffer.from(prefix);
  for (;;) {
    const range = { key: from, range_end: prefixEnd(prefix), limit: PAGE, revision };
    const page = await client.kv.range(range, etcdDeadline());
    if (revision === "0") revision = page.header.revision;
    pairs.push(...page.kvs);
    const last = page.kvs.at(-1);
    if (!page.more || last === undefined) return { revision: BigInt(revision), pairs };
    from = Buffer.concat([last.key, Buffer.from([0])]);
  }
}

/** Asks a stream for all changes of a prefix from a revision on. */
export function watchPrefix(
  stream: IDuplexStream<IWatchRequest, IWatchResponse>,
  prefix: string,
  revision: bigint,
): void {
  stream.write({
    create_request: {
      key: Buffer.from(prefix),
      range_end: prefixEnd(prefix),
      start_revision: String(revision),
    },
  });
}

/** The first key behind all that begin with a prefix. */
function prefixEnd(prefix: string): Buffer {
  const end = Buffer.from(prefix);
  end[end.length - 1] = (end.at(-1) as number) + 1;
  return end;
}
