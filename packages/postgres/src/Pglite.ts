/**
 * Loads PGlite, an optional dependency: most hosts have a server, and PGlite is as large as all other dependencies
 * together.
 */
import { OptionalPackage } from "@wac/core"
import { Effect } from "effect"
import * as DurableFiles from "./DurableFiles.ts"
import { OpenError } from "./OpenError.ts"

const load = async () => {
  try {
    const { PGlite } = await import("@electric-sql/pglite")
    const { NodeFS } = await import("@electric-sql/pglite/nodefs")
    return { PGlite, Files: DurableFiles.durable(NodeFS) }
  } catch (error) {
    if (OptionalPackage.isMissing(error)) return undefined
    throw error
  }
}

const missing = new OpenError({
  message: "embedded PostgreSQL needs a package that is not installed: npm install @electric-sql/pglite"
})

/** The parts of PGlite that are used. Fails if it is not installed. */
export const modules = Effect.flatMap(
  Effect.promise(load),
  (found) => found === undefined ? Effect.fail(missing) : Effect.succeed(found)
)
