/**
 * Spans of what happens so often that they must cost nothing where they go nowhere.
 */
import { Context, Effect, Tracer } from "effect"

/** Surrounds an effect with a span of this name if spans are collected; whether they are is read now, not at each use. */
export const ifTraced = (name: string) =>
  Effect.contextWith((context: Context.Context<never>) => {
    // where a call came from is not worth a stack trace each time
    const withSpan = Effect.withSpan(name, {}, { captureStackTrace: false })
    const isTraced = Context.getOrUndefined(context, Tracer.Tracer) !== undefined
    return Effect.succeed(<A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      isTraced ? withSpan(effect) : effect
    )
  })
