import { type Command, Option } from "commander";
import { apiCommand, commandGroup } from "../run/api-command.ts";
import { ASKS, confirmedCommand } from "../run/confirm-flag.ts";
import { runCommand } from "../run/run-command.ts";

const GROUP = "the id or name of the group";
const MEMBER = "user:alice, service_account:Reporter, or group:Engineers for all its members";
const load = () => import("./groups.ts");
const loadMembers = () => import("./group-members.ts");

/** The commands `svc-iam group …`. */
export function groupCommand(): Command {
  const list = apiCommand("list", "List the groups that you may see.", {
    isList: true,
    examples: ["svc-iam group list", "svc-iam group list --parent Engineers"],
  })
    .option("--parent <group>", "right below this group: its id or name")
    .action((flags) => runCommand(async () => (await load()).listGroups(flags)));
  const get = apiCommand("get", "Show a group.", { examples: ["svc-iam group get Engineers"] })
    .argument("<group>", GROUP)
    .action((group, flags) => runCommand(async () => (await load()).getGroup(group, flags)));
  const create = apiCommand("create", "Create a group. You become its first owner.", {
    examples: ["svc-iam group create Engineers", "svc-iam group create Testers --parent Engineers"],
  })
    .argument("<name>", "the name that people see")
    .option("--parent <group>", "below this group: its id or name (default: at the top)")
    .action((name, flags) => runCommand(async () => (await load()).createGroup(name, flags)));
  const update = apiCommand("update", "Change a group.", {
    examples: ["svc-iam group update Engineers --display-name 'Software engineers'"],
  })
    .argument("<group>", GROUP)
    .option("--display-name <name>", "the name that people see")
    // Its former name, which scripts have.
    .addOption(new Option("--name <name>").hideHelp().conflicts("displayName"))
    .option("--etag <etag>", "change nothing if the group was changed since this was read")
    .action((group, flags) => runCommand(async () => (await load()).updateGroup(group, flags)));
  const move = apiCommand("move", "Put a group below another one, or at the top.", {
    examples: [
      "svc-iam group move Testers --parent Operations",
      "svc-iam group move Testers --top",
    ],
  })
    .argument("<group>", GROUP)
    .option("--parent <group>", "below this group: its id or name")
    .option("--top", "at the top")
    .action((group, flags) => runCommand(async () => (await load()).moveGroup(group, flags)));
  const remove = confirmedCommand(
    apiCommand("delete", "Delete a group, with what its members were granted by it.", {
      details: ASKS,
      examples: ["svc-iam group delete Testers", "svc-iam group delete Testers --yes"],
    }),
  )
    .argument("<group>", GROUP)
    .action((group, flags) => runCommand(async () => (await load()).deleteGroup(group, flags)));
  const add = apiCommand("add-member", "Add a member to a group.", {
    examples: [
      "svc-iam group add-member Engineers user:alice",
      "svc-iam group add-member Engineers group:Testers",
    ],
  })
    .argument("<group>", GROUP)
    .argument("<member>", MEMBER)
    .action((group, member, flags) =>
      runCommand(async () => (await loadMembers()).addMember(group, member, flags)),
    );
  const drop = apiCommand("remove-member", "Remove a member from a group.", {
    examples: ["svc-iam group remove-member Engineers user:alice"],
  })
    .argument("<group>", GROUP)
    .argument("<member>", MEMBER)
    .action((group, member, flags) =>
      runCommand(async () => (await loadMembers()).removeMember(group, member, flags)),
    );
  const members = apiCommand("members", "List the direct members of a group.", {
    isList: true,
    examples: ["svc-iam group members Engineers"],
  })
    .argument("<group>", GROUP)
    .action((group, flags) =>
      runCommand(async () => (await loadMembers()).listMembers(group, flags)),
    );
  return commandGroup(
    "group",
    "List, create, change and delete groups, and change their members.",
    "Examples:\n  svc-iam group create Engineers\n  svc-iam group add-member Engineers user:alice",
    [list, get, create, update, move, remove, add, drop, members],
  );
}
