/**
 * Looks up something by an identifier that a caller supplied as text.
 */
import { Effect, Option } from "effect"
import { NotFound } from "./Errors.ts"

/**
 * Gets what a store has under an identifier, or fails with {@link NotFound}. Text that is not an identifier is `none`.
 * The storage is not queried for it, since PostgreSQL rejects some texts.
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
