/**
 * `npm run members -- …`: see `MembersCommand.ts`. Exits with 0, or with 1 and an error message.
 */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect, Stdio } from "effect"
import * as MembersCommand from "./MembersCommand.ts"
import { teardown } from "./Teardown.ts"

const main = Effect.gen(function*() {
  const args = yield* Stdio.Stdio.use((stdio) => stdio.args)
  process.exitCode = yield* MembersCommand.run(process.env, args)
}).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

NodeRuntime.runMain(main, { disableErrorReporting: true, teardown })
