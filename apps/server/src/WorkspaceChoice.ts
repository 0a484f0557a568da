/**
 * How a command line names a workspace: a flag, an argument, and the choice if there is only one.
 */
import { WorkspaceStore } from "@wac/core"
import { Effect, Option } from "effect"
import { Argument, Flag } from "effect/cli"
import * as OperatorCommand from "./OperatorCommand.ts"

/** `--workspace`, for commands of one workspace. */
export const flag = Flag.String("workspace").pipe(
  Flag.withDescription("The workspace (ws_…); may be omitted if there is only one"),
  Flag.optional
)

/** The workspace as an argument. */
export const argument = Argument.String("workspace").pipe(Argument.withDescription("The workspace's id (ws_…)"))

/** The workspace with the given id; without one, the only workspace. Fails if that is not exactly one. */
export const chosen = Effect.fnUntraced(function*(given: Option.Option<string>) {
  const all = yield* WorkspaceStore.WorkspaceStore.use((store) => store.list)
  const found = Option.isNone(given) ? all : all.filter(({ id }) => id === given.value)
  return found.length === 1 ? found[0]! : yield* new OperatorCommand.CannotDo({
    message: Option.isSome(given)
      ? `there is no workspace ${given.value}`
      : found.length === 0
      ? "there is no workspace yet: set up the first one"
      : `there are ${found.length} workspaces: name one with --workspace (\`wac workspaces list\`)`
  })
})
