import { createGrpcClient } from "svc-access/runtime";
import { expect, test } from "vitest";
import { IAMRevocationService } from "../../../gen/svc/iam/v1/revocation_pb.ts";
import { INTERNAL_TOKEN, startIam } from "../../support/iam-service.ts";

test("a server that stops does not wait for those who watch its revocations", async () => {
  // Without the end of the streams the stop would last for half of this.
  const iam = await startIam({ server: { shutdown_timeout_ns: 600_000_000_000 } });
  const client = createGrpcClient(IAMRevocationService, {
    target: iam.grpcTarget,
    internalToken: INTERNAL_TOKEN,
  });
  const watch = client.watchRevocations({})[Symbol.asyncIterator]();
  expect((await watch.next()).value).toMatchObject({ snapshotBegin: true, current: true });
  const next = watch.next();
  const ended = expect(next).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await iam.stop();
  await ended;
  await client.close();
});
