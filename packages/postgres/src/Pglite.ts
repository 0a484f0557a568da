/**
 * PGlite, which is optional: most hosts have a server, and it is as large as all else that this package needs.
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
    throw OptionalPackage.isMissing(error)
      ? new OpenError({
        message: "embedded PostgreSQL needs a package that is not installed: npm install @electric-sql/pglite"
      })
      : error
  }
}

/** What is used of it. Fails if it is not installed. */
export const modules = Effect.catch(
  Effect.tryPromise({ try: load, catch: (error) => error }),
  (error) => error instanceof OpenError ? Effect.fail(error) : Effect.die(error)
)
