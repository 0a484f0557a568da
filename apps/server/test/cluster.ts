/**
 * A PostgreSQL cluster under Patroni, prepared as the guide *High availability* says.
 */
import { assert } from "@effect/vitest"
import * as PatroniCluster from "@wac/testbed/PatroniCluster"
import { Effect } from "effect"
import * as guide from "./guide.ts"

/**
 * With so many members, and further variables of their machines. `follow` runs the guide's commands, among which `ways`
 * are the ways to the database.
 */
export const cluster = Effect.fnUntraced(function*(
  members: 2 | 3,
  variables?: Parameters<typeof PatroniCluster.start>[1]
) {
  const started = yield* Effect.acquireRelease(
    Effect.promise(() => PatroniCluster.start(members, variables)),
    ({ stop }) => Effect.promise(stop)
  )
  const [atFirst, ...ways] = yield* guide.blocks("high-availability.md", "a PostgreSQL cluster")
  const follow = (
    commands: string,
    env: Readonly<Record<string, string>>,
    replaced: ReadonlyArray<readonly [string, string]> = []
  ) =>
    guide.run(commands, {
      replaced: [
        ["127.0.0.1:5000", new URL(started.proxied).host],
        ["10.0.0.1:5432,10.0.0.2:5432,10.0.0.3:5432", started.hosts.replace(/.*@(.*)\/.*/, "$1")],
        ...replaced
      ],
      directory: "deploy/patroni",
      env
    })
  assert.match(yield* follow(atFirst!, started.env), /Leader.*running/)
  return { ...started, follow, ways }
})
