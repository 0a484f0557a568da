/**
 * Finding what a caller names by text of their own.
 */
import { Effect, Option } from "effect"
import { NotFound } from "./Errors.ts"

/**
 * What a store has under an identifier; {@link NotFound} when it has nothing. Text that is no identifier is `none`: it
 * names nothing, and no storage is asked for it, since on some text PostgreSQL fails.
 */
export const find = <Id, A, E>(
  what: string,
  id: Option.Option<Id>,
  get: (id: Id) => Effect.Effect<Option.Option<A>, E>
): Effect.Effect<A, E | NotFound> =>
  Effect.flatMap(
    Option.match(id, { onNone: () => Effect.succeed(Option.none<A>()), onSome: get }),
    Option.match({
      onNone: () => Effect.fail(new NotFound({ message: `the workspace has no such ${what}` })),
      onSome: (found) => Effect.succeed(found)
    })
  )
