/**
 * PGlite, which is optional: most hosts have a server, and it is as large as all else that this package needs.
 */
import { Effect } from "effect"
import * as DurableFiles from "./DurableFiles.ts"
import { OpenError } from "./OpenError.ts"

/** Bundlers accept that a package is missing if they see that its error is caught. */
const load = async () => {
  try {
    return await Promise.all([import("@electric-sql/pglite"), import("@electric-sql/pglite/nodefs")])
  } catch (error) {
    const isMissing = /^(ERR_)?MODULE_NOT_FOUND$/.test((error as NodeJS.ErrnoException).code ?? "")
    throw isMissing
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
).pipe(Effect.map(([{ PGlite }, { NodeFS }]) => ({ PGlite, Files: DurableFiles.durable(NodeFS) })))
