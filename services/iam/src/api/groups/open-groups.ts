import { IAMGroupService } from "../../../gen/svc/iam/v1/groups_pb.ts";
import { bindIAMGroupService } from "../../../gen/svc/iam/v1/groups_server.ts";
import type { PartContext, ServicePart } from "../service-part.ts";
import { GroupCreation } from "./group-creation.ts";
import { GroupDeletion } from "./group-deletion.ts";
import { groupHandlers } from "./group-handlers.ts";
import { GroupMembers } from "./group-members.ts";
import { GroupMoves } from "./group-moves.ts";
import { GroupRecords } from "./group-records.ts";
import { GroupTree } from "./group-tree.ts";
import { GroupVisibility } from "./group-visibility.ts";
import { MoveRights } from "./move-rights.ts";
import { PlaceRights } from "./place-rights.ts";
import { refuseRepeatedCreations } from "./repeated-creations.ts";
import { UnfinishedGroups } from "./unfinished-groups.ts";
import { VisibleGroups } from "./visible-groups.ts";

/** Opens IAMGroupService. */
export function openGroups(context: PartContext): ServicePart {
  const { database, engine, pageTokens, removals, rights } = context;
  const records = new GroupRecords(database, removals);
  removals.register({
    name: "group",
    objectType: "group",
    deleteRecord: (transaction, id) => records.delete(transaction, id),
  });
  const tree = new GroupTree(engine);
  const places = new PlaceRights(engine, records);
  const { rules, lastOwner } = rights;
  const handlers = groupHandlers({
    records,
    tree,
    places,
    creation: new GroupCreation({ engine, records, tree, rights: places }),
    moves: new GroupMoves({
      engine,
      tree,
      places,
      rights: new MoveRights(engine, rules),
      lastOwner,
    }),
    deletion: new GroupDeletion({ engine, records, tree, places, rules, lastOwner }),
    members: new GroupMembers({ engine, rules, lastOwner, pageTokens }),
    visible: new VisibleGroups(engine, records),
    visibility: new GroupVisibility(engine, records),
    pageTokens,
  });
  const unfinished = new UnfinishedGroups(records, tree);
  return {
    bindings: [bindIAMGroupService(handlers)],
    jobs: [unfinished.job],
    admission: [refuseRepeatedCreations(places)],
    idempotentRpcs: [`${IAMGroupService.typeName}/CreateGroup`],
  };
}
