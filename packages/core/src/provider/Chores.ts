/**
 * What a provider does in the background of an instance whose background runs in shifts only.
 */
import { Context, Effect, type Scope } from "effect"

/**
 * If set, a list to which a provider adds each loop that it otherwise runs itself. The host runs all of them in each
 * shift, and interrupts them at its end. `null` by default.
 */
export const Chores = Context.Reference<Array<Effect.Effect<void>> | null>("@wac/core/provider/Chores", {
  defaultValue: () => null
})

/** Runs a loop until the scope closes, or in the shifts of {@link Chores}. */
export const run = (chore: Effect.Effect<void>): Effect.Effect<void, never, Scope.Scope> =>
  Effect.flatMap(
    Chores,
    (chores) => chores === null ? Effect.asVoid(Effect.forkScoped(chore)) : Effect.sync(() => void chores.push(chore))
  )
